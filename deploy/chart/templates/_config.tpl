{{/* The configuration file: what the chart knows, and over it what the values say. */}}
{{- define "svc.config" -}}
{{- $executor := dict
  "task_namespace" (include "svc.taskNamespace" .)
  "agent_control_plane_addr" (printf "%s.%s.svc:%s" (include "svc.agentService" .) .Release.Namespace (include "svc.rpcPort" .)) -}}
{{- if .Values.tasks.createServiceAccount -}}
{{- $_ := set $executor "task_service_account" (include "svc.taskServiceAccount" .) -}}
{{- end -}}
{{- $server := dict -}}
{{- if .Values.agentTls.enabled -}}
{{- $_ := set $executor "agent_tls_ca_configmap" (include "svc.agentCaConfigMap" .) -}}
{{- $_ := set $server "grpc_tls" (dict "cert" "/etc/svc/agent-tls/tls.crt" "key" "/etc/svc/agent-tls/tls.key") -}}
{{- end -}}
{{- if .Values.httpTls.existingSecret -}}
{{- $_ := set $server "http_tls" (dict "cert" "/etc/svc/http-tls/tls.crt" "key" "/etc/svc/http-tls/tls.key") -}}
{{- end -}}
{{- with .Values.ingress -}}
{{- if and .enabled .host -}}
{{- $origin := printf "%s://%s" (ternary "https" "http" (ne .tlsSecret "")) .host -}}
{{- $_ := set $server "base_url" (printf "%s%s" $origin (trimSuffix "/" .path)) -}}
{{- $_ := set $server "cors" (dict "allowed_origins" (list $origin)) -}}
{{- end -}}
{{- end -}}
{{- $known := dict "server" $server "executor" $executor "ui" (dict "edition" "pro") -}}
{{- if .Values.redis.caConfigMap -}}
{{- $_ := set $known "redis" (dict "ca_file" (printf "/etc/svc/redis-ca/%s" .Values.redis.caKey)) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $known (deepCopy .Values.config)) -}}
{{- end -}}

{{- define "svc.httpPort" -}}{{- include "svc.portOf" (dict "root" . "key" "http_addr" "default" "8080") -}}{{- end -}}
{{- define "svc.rpcPort" -}}{{- include "svc.portOf" (dict "root" . "key" "grpc_addr" "default" "9091") -}}{{- end -}}
{{- define "svc.metricsPort" -}}{{- include "svc.portOf" (dict "root" . "key" "metrics_addr" "default" "9090") -}}{{- end -}}
{{- define "svc.portOf" -}}
{{- regexFind "[0-9]+$" (default .default (dig "server" .key "" .root.Values.config)) -}}
{{- end -}}

{{- define "svc.isExchange" -}}
{{- if eq "exchange" (dig "auth" "agent_token_transport" "" .Values.config) -}}yes{{- end -}}
{{- end -}}

{{- define "svc.logsOnDisk" -}}
{{- if eq "disk" (default "disk" (dig "logs" "backend" "" .Values.config)) -}}yes{{- end -}}
{{- end -}}
{{- define "svc.logsDir" -}}{{- default "/var/log/svc" (dig "logs" "dir" "" .Values.config) -}}{{- end -}}

{{/* As YAML, a nested map as variables: auth.jwt.secret is SVC_AUTH_JWT_SECRET. */}}
{{- define "svc.variables" -}}
{{- range $name, $value := .map -}}
{{- $variable := printf "%s_%s" $.prefix ($name | upper) -}}
{{- if kindIs "map" $value -}}
{{- include "svc.variables" (dict "map" $value "prefix" $variable) -}}
{{- else if not (kindIs "invalid" $value) }}
{{ $variable }}: {{ $value | toString | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What cannot work is said before anything is installed. */}}
{{- define "svc.check" -}}
{{- if not (or .Values.postgres.enabled .Values.existingSecret (dig "database" "url" "" .Values.secretConfig)) -}}
{{- fail "no database: set secretConfig.database.url to a PostgreSQL connection string, or existingSecret to a Secret with SVC_DATABASE_URL, or postgres.enabled=true to try svc out" -}}
{{- end -}}
{{- if and (eq .Values.mode "split") (include "svc.logsOnDisk" .) -}}
{{- with .Values.logs.persistence -}}
{{- if not (and .enabled (or .existingClaim (eq .accessMode "ReadWriteMany"))) -}}
{{- fail "mode is split, and the API could not read the task logs of the scheduler: set config.logs.backend to objstore or cloudstore, or logs.persistence.accessMode to ReadWriteMany" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.agentTls -}}
{{- if and .enabled .existingSecret (not (or .ca .caConfigMap)) -}}
{{- fail "agentTls.existingSecret is set, and agents would not know its authority: set agentTls.ca to its certificate, or agentTls.caConfigMap to a config map of the task namespace with ca.crt" -}}
{{- end -}}
{{- end -}}
{{- range $role, $identity := .Values.databaseIdentities -}}
{{- if ne (empty $identity.user) (empty $identity.existingSecret) -}}
{{- fail (printf "databaseIdentities.%s: user and existingSecret belong together: set the database user to grant to, and the Secret with its SVC_DATABASE_URL" $role) -}}
{{- end -}}
{{- if and $identity.user (ne $.Values.mode "split") -}}
{{- fail (printf "databaseIdentities.%s is for mode split: in mode all there is one process, which needs everything" $role) -}}
{{- end -}}
{{- if and $identity.user (not $.Values.migration.enabled) -}}
{{- fail (printf "databaseIdentities.%s needs migration.enabled: its job makes the schema and the grants, as the owner" $role) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled is true: set ingress.host" -}}
{{- end -}}
{{- end -}}
