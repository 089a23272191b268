{{/* How long a pod may take to stop. */}}

{{/* A quantity of CPU in cores, as text: 250m is 0.25. */}}
{{- define "podscale.cores" -}}
{{- $text := toString . -}}
{{- if hasSuffix "m" $text }}{{ divf (trimSuffix "m" $text | float64) 1000.0 }}{{ else }}{{ float64 $text }}{{ end }}
{{- end }}

{{/*
What the longest legal job takes, in s, when it has the CPU limit to itself. The same formula as `longest_job_seconds`
of the pod's settings: the longest burn, or a computation at its cap, whose cost grows with the limit squared.
*/}}
{{- define "podscale.longestJobSeconds" -}}
{{- $settings := .Values.settings -}}
{{- $limit := divf (float64 $settings.maxLimit) 300000.0 -}}
{{- $seconds := maxf (divf (float64 $settings.maxCpuTimeMs) 1000.0) (mulf 10.0 $limit $limit) (mulf 10.0 (divf (float64 $settings.maxNumber) 5000000000.0)) -}}
{{- divf $seconds (minf 1.0 (include "podscale.coresOfPod" . | float64)) }}
{{- end }}

{{/* Cores that a pod may use, as text; without a limit, one for each serving process. */}}
{{- define "podscale.coresOfPod" -}}
{{- $limit := dig "limits" "cpu" "" .Values.resources | toString -}}
{{- if $limit }}{{ include "podscale.cores" $limit }}{{ else }}{{ float64 .Values.settings.workers }}{{ end }}
{{- end }}

{{/* Whole seconds from the deletion to the end: as asked for, else as needed and 5 s more. */}}
{{- define "podscale.graceSeconds" -}}
{{- $job := include "podscale.longestJobSeconds" . | float64 -}}
{{- /* The last second of its time a pod needs to end. */ -}}
{{- $need := addf .Values.preStopSleepSeconds .Values.settings.drainSeconds $job 1.0 -}}
{{- $asked := .Values.terminationGracePeriodSeconds -}}
{{- if gt (subf $need .Values.preStopSleepSeconds) 7195.0 }}
{{- fail (printf "A pod would need %.0f s to stop, and 7200 s is the most it can: its longest job takes %.0f s at its CPU limit. Lower settings.maxCpuTimeMs, settings.maxLimit and settings.maxNumber, or raise resources.limits.cpu." $need $job) }}
{{- else if kindIs "invalid" $asked }}
{{- max 30 (addf $need 5 | ceil | int64) }}
{{- else if gt $need (float64 $asked) }}
{{- fail (printf "terminationGracePeriodSeconds is %v, but a pod needs up to %.1f s to stop: preStopSleepSeconds %v, settings.drainSeconds %v, %.1f s for the longest job at its CPU limit, and 1 s to end. Raise terminationGracePeriodSeconds (null computes it), or lower these, settings.maxCpuTimeMs, settings.maxLimit and settings.maxNumber." $asked $need .Values.preStopSleepSeconds .Values.settings.drainSeconds $job) }}
{{- else }}
{{- int64 $asked }}
{{- end }}
{{- end }}
