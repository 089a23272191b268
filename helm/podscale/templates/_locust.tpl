{{/* What master and worker have in common, as Deployment and as Job. */}}

{{- define "podscale.locustName" -}}
{{ include "podscale.fullname" . }}-locust
{{- end }}

{{/* Takes a list of the root and the role, master or worker. */}}
{{- define "podscale.locustRoleName" -}}
{{ include "podscale.locustName" (index . 0) }}-{{ index . 1 }}
{{- end }}

{{- define "podscale.loginSecret" -}}
{{- $login := .Values.locust.login -}}
{{- if not (or $login.password $login.existingSecret) }}
{{- fail "locust.login.enabled needs locust.login.password, or locust.login.existingSecret with the name of a Secret that has username and password." }}
{{- end }}
{{- $login.existingSecret | default (printf "%s-login" (include "podscale.locustName" .)) }}
{{- end }}

{{/* The ConfigMap with the user's locustfile; empty if it is one of the image. */}}
{{- define "podscale.locustfileConfigMap" -}}
{{- if and .Values.locust.locustfile .Values.locust.existingConfigMap }}
{{- fail "locust.locustfile and locust.existingConfigMap exclude each other: both bring a locustfile. Set one." }}
{{- end }}
{{- if .Values.locust.locustfile }}
{{- include "podscale.locustName" . }}-file
{{- else }}
{{- .Values.locust.existingConfigMap }}
{{- end }}
{{- end }}

{{/* Locust's files, in their order: ours, the login on the master, the user's. Takes the root and the role. */}}
{{- define "podscale.locustfiles" -}}
{{- $root := index . 0 -}}
/opt/podscale/plugin.py
{{- if and (eq (index . 1) "master") (include "podscale.hasLogin" $root) }},/login/login.py{{ end -}}
,{{ if include "podscale.locustfileConfigMap" $root }}/locustfile/locustfile.py{{ else }}/opt/podscale/loadtest{{ if ne $root.Values.locust.scenario "all" }}/{{ $root.Values.locust.scenario }}.py{{ end }}{{ end }}
{{- end }}

{{- define "podscale.hasLogin" -}}
{{- if and .Values.locust.login.enabled (not .Values.locust.headless.enabled) }}yes{{ end }}
{{- end }}

{{- define "podscale.locustArgs" -}}
{{- $root := index . 0 -}}
{{- $locust := $root.Values.locust -}}
- --locustfile={{ include "podscale.locustfiles" . }}
{{- if eq (index . 1) "worker" }}
- --worker
- --master-host={{ include "podscale.locustRoleName" (list $root "master") }}
- --master-port=5557
{{- else }}
- --master
- --master-bind-port=5557
{{- if $locust.headless.enabled }}
- --headless
- --only-summary
- --users={{ $locust.headless.users }}
- --spawn-rate={{ $locust.headless.spawnRate }}
- --run-time={{ $locust.headless.runTime }}
- --expect-workers={{ $locust.worker.replicaCount | default 1 }}
- --expect-workers-max-wait={{ $locust.headless.expectWorkersMaxWaitSeconds }}
{{- else }}
- --web-port=8089
{{- end }}
{{- if include "podscale.hasLogin" $root }}
- --web-login
{{- end }}
- --connections={{ $locust.connections }}
{{- range $locust.args }}
- {{ . | quote }}
{{- end }}
{{- end }}
{{- if $locust.headless.enabled }}
- --exit-code-on-error={{ $locust.headless.exitCodeOnError }}
{{- end }}
{{- end }}

{{/* The template of a pod, from its metadata on. Takes the root and the role. */}}
{{- define "podscale.locustPod" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $locust := $root.Values.locust -}}
{{- $isPage := and (eq $role "master") (not $locust.headless.enabled) -}}
{{- $hasLogin := and (eq $role "master") (include "podscale.hasLogin" $root) -}}
{{- $configMap := include "podscale.locustfileConfigMap" $root -}}
metadata:
  labels:
    {{- include "podscale.selectorLabels" (list $root (printf "locust-%s" $role)) | nindent 4 }}
    {{- with $locust.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- $checksums := dict }}
  {{- if $locust.locustfile }}
  {{- $_ := set $checksums "checksum/locustfile" (sha256sum $locust.locustfile) }}
  {{- end }}
  {{- if $hasLogin }}
  {{- $_ := set $checksums "checksum/login" (print ($root.Files.Get "files/login.py") (toJson $locust.login) | sha256sum) }}
  {{- end }}
  {{- with merge $checksums $locust.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "podscale.podDefaults" $root | nindent 2 }}
  {{- with include "podscale.placement" $locust }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if $locust.headless.enabled }}
  # A run that broke is not repeated: its load would be counted twice.
  restartPolicy: Never
  {{- end }}
  containers:
    - name: {{ $role }}
      image: {{ include "podscale.image" (list $root $locust.image) }}
      imagePullPolicy: {{ $locust.image.pullPolicy }}
      command: [locust]
      args:
        {{- include "podscale.locustArgs" . | nindent 8 }}
      env:
        - name: HOME
          value: /tmp
        {{- if $locust.host }}
        - name: LOCUST_HOST
          value: {{ $locust.host | quote }}
        {{- else }}
        - name: NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        {{- /* The last dot ends the name: no search through the domains of resolv.conf for each new connection. */}}
        - name: LOCUST_HOST
          value: http://{{ include "podscale.fullname" $root }}.$(NAMESPACE).svc.{{ $root.Values.clusterDomain }}.:{{ $root.Values.service.port }}
        {{- end }}
        {{- if $hasLogin }}
        {{- range $key := list "username" "password" }}
        - name: LOGIN_{{ upper $key }}
          valueFrom:
            secretKeyRef:
              name: {{ include "podscale.loginSecret" $root }}
              key: {{ $key }}
        {{- end }}
        {{- end }}
        {{- with $locust.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if eq $role "master" }}
      ports:
        - name: master
          containerPort: 5557
        {{- if $isPage }}
        - name: web
          containerPort: 8089
        {{- end }}
      {{- end }}
      {{- if $isPage }}
      {{- /* A worker has no port to probe; without a master it ends by itself and is started again. */}}
      startupProbe:
        tcpSocket:
          port: web
        periodSeconds: 1
        timeoutSeconds: 5
        failureThreshold: 120
      readinessProbe:
        tcpSocket:
          port: web
        periodSeconds: 5
        timeoutSeconds: 5
      {{- end }}
      resources:
        {{- toYaml (get $locust $role).resources | nindent 8 }}
      securityContext:
        {{- toYaml $root.Values.securityContext | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if $configMap }}
        - name: locustfile
          mountPath: /locustfile
          readOnly: true
        {{- end }}
        {{- if $hasLogin }}
        - name: login
          mountPath: /login
          readOnly: true
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if $configMap }}
    - name: locustfile
      configMap:
        name: {{ $configMap }}
    {{- end }}
    {{- if $hasLogin }}
    - name: login
      configMap:
        name: {{ include "podscale.locustName" $root }}-login
    {{- end }}
{{- end }}

{{/*
A Job cannot be changed. So its name holds a hash of the run, which is that of both roles: an upgrade that changes
anything makes two new Jobs, and one that does not leaves them alone. Takes the root and the role.
*/}}
{{- define "podscale.locustJobName" -}}
{{- $root := index . 0 -}}
{{- $workers := $root.Values.locust.worker.replicaCount | default 1 -}}
{{- $run := print (include "podscale.locustPod" (list $root "master")) (include "podscale.locustPod" (list $root "worker")) $workers $root.Values.locust.headless.run -}}
{{ include "podscale.locustRoleName" . }}-{{ $run | sha256sum | trunc 8 }}
{{- end }}

{{- define "podscale.locustJob" -}}
{{- $root := index . 0 -}}
{{- $role := index . 1 -}}
{{- $count := eq $role "master" | ternary 1 ($root.Values.locust.worker.replicaCount | default 1) -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "podscale.locustJobName" . }}
  labels:
    {{- include "podscale.labels" (list $root (printf "locust-%s" $role)) | nindent 4 }}
spec:
  parallelism: {{ $count }}
  completions: {{ $count }}
  backoffLimit: 0
  template:
    {{- include "podscale.locustPod" . | nindent 4 }}
{{- end }}
