{{/* The sweep's Job and its rights. */}}

{{- define "podscale.sweepName" -}}
{{ include "podscale.fullname" . }}-sweep
{{- end }}

{{- define "podscale.sweepDeployment" -}}
{{ .Values.sweep.deployment | default (include "podscale.fullname" .) }}
{{- end }}

{{/* A Job cannot be changed: an upgrade that changes the sweep makes a new one, any other leaves it alone. */}}
{{- define "podscale.sweepJobName" -}}
{{ include "podscale.sweepName" . }}-{{ print (toJson .Values.sweep) .Chart.AppVersion | sha256sum | trunc 8 }}
{{- end }}

{{- define "podscale.sweepEnabled" -}}
{{- if .Values.sweep.enabled }}
{{- if or (not .Values.locust.enabled) .Values.locust.headless.enabled }}
{{- fail "sweep.enabled needs Locust with its page: set locust.enabled=true and locust.headless.enabled=false." }}
{{- end -}}
yes
{{- end }}
{{- end }}
