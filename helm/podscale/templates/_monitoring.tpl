{{/* Rules, and the small Prometheus. */}}

{{- define "podscale.prometheusName" -}}
{{ include "podscale.fullname" . }}-prometheus
{{- end }}

{{/* Four scrapes, as text: over fewer a rate has gaps. Takes the interval. */}}
{{- define "podscale.rateWindow" -}}
{{ regexFind "^[0-9]+" . | int64 | mul 4 }}{{ regexFind "[a-z]+$" . }}
{{- end }}

{{/* The groups of rules of this release, as YAML. Takes a list of the root and the scrape interval. */}}
{{- define "podscale.ruleGroups" -}}
{{- $root := index . 0 -}}
{{- $rule := $root.Values.prometheusRule -}}
{{- $text := $root.Files.Get "files/rules.yaml" -}}
{{- /* The braces of Prometheus in it are not Helm's, so names in capitals are put in by plain replacement. */ -}}
{{- range $name, $value := dict
  "RELEASE" $root.Release.Name
  "RATE_WINDOW" (include "podscale.rateWindow" (index . 1))
  "P99_GOAL_SECONDS" (toString $rule.p99GoalSeconds)
  "MAX_REPLICAS" (toString $root.Values.autoscaling.maxReplicas)
}}
{{- $text = replace $name $value $text }}
{{- end }}
{{- $groups := list }}
{{- range (fromYaml $text).groups }}
{{- if or (ne .name "podscale-autoscaling") $root.Values.autoscaling.enabled }}
{{- $groups = append $groups . }}
{{- end }}
{{- range .rules }}
{{- if and .alert $rule.alertLabels }}
{{- $_ := set . "labels" $rule.alertLabels }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml (dict "groups" $groups) }}
{{- end }}

{{- define "podscale.prometheusConfig" -}}
global:
  scrape_interval: {{ .Values.prometheus.scrapeInterval }}
  scrape_timeout: {{ .Values.prometheus.scrapeTimeout }}
  evaluation_interval: {{ .Values.prometheus.scrapeInterval }}
rule_files: [/etc/prometheus/rules.yaml]
scrape_configs:
  - job_name: podscale
    kubernetes_sd_configs:
      - role: pod
        namespaces:
          own_namespace: true
        selectors:
          - role: pod
            label: app.kubernetes.io/name={{ include "podscale.name" . }},app.kubernetes.io/instance={{ .Release.Name }}
    relabel_configs:
      - source_labels:
          - __meta_kubernetes_pod_label_app_kubernetes_io_component
          - __meta_kubernetes_pod_container_port_name
        regex: pod;admin|locust-master;web
        action: keep
      - source_labels: [__meta_kubernetes_pod_phase]
        regex: Failed|Succeeded
        action: drop
      - source_labels: [__meta_kubernetes_namespace]
        target_label: namespace
      - source_labels: [__meta_kubernetes_pod_name]
        target_label: pod
      - source_labels: [__meta_kubernetes_pod_label_app_kubernetes_io_instance]
        target_label: release
{{- end }}
