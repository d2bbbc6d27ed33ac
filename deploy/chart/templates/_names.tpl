{{- define "svc.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "svc.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "svc.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "svc.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "svc.selector" . }}
{{- end -}}

{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ include "svc.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The parts there are, with what each may do. */}}
{{- define "svc.roles" -}}
{{- if eq .Values.mode "split" -}}
{{- toJson (list (dict "role" "api" "http" true "executes" false) (dict "role" "scheduler" "http" false "executes" true)) -}}
{{- else -}}
{{- toJson (list (dict "role" "all" "http" true "executes" true)) -}}
{{- end -}}
{{- end -}}

{{/* Of the deployment and the service account of a role. */}}
{{- define "svc.roleName" -}}
{{- $fullname := include "svc.fullname" .root -}}
{{- if eq .role "all" -}}{{- $fullname -}}{{- else -}}{{- printf "%s-%s" $fullname .role -}}{{- end -}}
{{- end -}}

{{/* The role that serves HTTP, and the one that talks to agents and the cluster. */}}
{{- define "svc.httpRole" -}}{{- ternary "api" "all" (eq .Values.mode "split") -}}{{- end -}}
{{- define "svc.executingRole" -}}{{- ternary "scheduler" "all" (eq .Values.mode "split") -}}{{- end -}}

{{- define "svc.taskNamespace" -}}
{{- default (printf "%s-tasks" .Release.Namespace) .Values.tasks.namespace -}}
{{- end -}}

{{- define "svc.taskServiceAccount" -}}{{- printf "%s-task" (include "svc.fullname" .) -}}{{- end -}}
{{- define "svc.agentService" -}}{{- printf "%s-agents" (include "svc.fullname" .) -}}{{- end -}}
{{- define "svc.postgresName" -}}{{- printf "%s-postgres" (include "svc.fullname" .) -}}{{- end -}}
{{- define "svc.agentTlsSecret" -}}
{{- default (printf "%s-agent-tls" (include "svc.fullname" .)) .Values.agentTls.existingSecret -}}
{{- end -}}
{{- define "svc.agentCaConfigMap" -}}
{{- default (printf "%s-agent-ca" (include "svc.fullname" .)) .Values.agentTls.caConfigMap -}}
{{- end -}}
{{- define "svc.logsClaim" -}}
{{- default (printf "%s-logs" (include "svc.fullname" .)) .Values.logs.persistence.existingClaim -}}
{{- end -}}

{{- define "svc.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{- printf "%s@%s" .repository .digest -}}{{- else -}}{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) -}}{{- end -}}
{{- end -}}
{{- end -}}
