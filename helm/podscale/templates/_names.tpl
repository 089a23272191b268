{{/* Names and labels of all objects. */}}

{{- define "podscale.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
The release and the chart, or the chart alone for a release of its name. Unlike in other charts a release that only
contains the chart's name has both: else the releases demo and demo-podscale would meet in one namespace.
At most 38 characters, so that the longest suffix (-locust-master- and ten of a hash) stays within 63.
A longer name ends in a hash of itself: two long releases that begin alike must not meet either.
*/}}
{{- define "podscale.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := .Values.fullnameOverride | default (eq $name .Release.Name | ternary $name (printf "%s-%s" .Release.Name $name)) }}
{{- if gt (len $full) 38 }}
{{- printf "%s-%s" ($full | trunc 29 | trimSuffix "-") ($full | sha256sum | trunc 8) }}
{{- else }}
{{- $full | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "podscale.metricsName" -}}
{{ include "podscale.fullname" . }}-metrics
{{- end }}

{{- define "podscale.serviceAccountName" -}}
{{- default (.Values.serviceAccount.create | ternary (include "podscale.fullname" .) "default") .Values.serviceAccount.name }}
{{- end }}

{{/* Takes a list of the root and the component: pod, locust-master, locust-worker or test. These never change. */}}
{{- define "podscale.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "podscale.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of objects; pods have the selector's alone, so that a new version of the chart by itself restarts nothing. */}}
{{- define "podscale.labels" -}}
{{- $root := index . 0 -}}
{{ include "podscale.selectorLabels" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Takes a list of the root and the values of an image. */}}
{{- define "podscale.image" -}}
{{- $image := index . 1 -}}
{{ $image.repository }}:{{ $image.tag | default (index . 0).Chart.AppVersion }}
{{- end }}

{{/* Where all pods agree: who they are, and that they may do nothing. Takes the root. */}}
{{- define "podscale.podDefaults" -}}
serviceAccountName: {{ include "podscale.serviceAccountName" . }}
automountServiceAccountToken: false
{{- /* A Service named podscale would otherwise put PODSCALE_PORT and the like into each environment. */}}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- end }}

{{/* Where pods may run. Takes the values that hold nodeSelector, tolerations and affinity. */}}
{{- define "podscale.placement" -}}
{{- $placement := dict }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $ $key }}
{{- $_ := set $placement $key . }}
{{- end }}
{{- end }}
{{- with $placement }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/* Peers of a NetworkPolicy: the API server, which asks from its own addresses when somebody uses its proxy. */}}
{{- define "podscale.apiServerPeers" -}}
{{- range .Values.networkPolicy.apiServer }}
- ipBlock:
    cidr: {{ . }}
{{- end }}
{{- end }}
