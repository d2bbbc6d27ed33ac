{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Secrets of ours first: what the operator's own say is stronger. */}}
{{- define "svc.envFrom" -}}
- secretRef: { name: {{ include "svc.fullname" . }} }
{{- with .Values.existingSecret }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- with .Values.extraEnvFrom }}
{{ toYaml . }}
{{- end }}
{{- end -}}
