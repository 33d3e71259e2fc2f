{{- define "gpupool.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "gpupool.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "gpupool.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "gpupool.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gpupool.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* What every object carries. Call with (dict "root" $ "component" "operator"). */}}
{{- define "gpupool.labels" -}}
{{- with .root.Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
{{ include "gpupool.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gpupool.selector" -}}
app.kubernetes.io/name: {{ include "gpupool.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* metadata of an object in the namespace: (dict "root" $ "component" "operator" "name" NAME) */}}
{{- define "gpupool.metadata" -}}
{{ include "gpupool.clusterMetadata" . }}
  namespace: {{ include "gpupool.namespace" .root }}
{{- end -}}

{{- define "gpupool.clusterMetadata" -}}
metadata:
  name: {{ .name | default (printf "%s-%s" (include "gpupool.fullname" .root) .component) }}
  labels:
    {{- include "gpupool.labels" . | nindent 4 }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* (dict "root" $ "image" .Values.x.image) */}}
{{- define "gpupool.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "component" "operator" "account" .Values.x.serviceAccount) */}}
{{- define "gpupool.serviceAccountName" -}}
{{- if .account.name -}}
{{ .account.name }}
{{- else if .account.create -}}
{{ include "gpupool.fullname" .root }}-{{ .component }}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{/* A definition without CEL rules, which servers before 1.25 do not know. Changes what it is given. */}}
{{- define "gpupool.dropCel" -}}
{{- if kindIs "map" . -}}
{{- $_ := unset . "x-kubernetes-validations" -}}
{{- range $value := values . -}}{{- include "gpupool.dropCel" $value -}}{{- end -}}
{{- else if kindIs "slice" . -}}
{{- range $value := . -}}{{- include "gpupool.dropCel" $value -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The affinity of a pod that must not run on nodes of pools, whose owners are root there: (dict "root" $ "affinity" AFFINITY).
AFFINITY counts too; its nodeAffinity replaces ours. */}}
{{- define "gpupool.affinity" -}}
{{- $affinity := deepCopy .affinity -}}
{{- if and .root.Values.poolNodes.avoid (not (hasKey $affinity "nodeAffinity")) -}}
{{- $term := dict "matchExpressions" (list (dict "key" .root.Values.poolNodes.label "operator" "DoesNotExist")) -}}
{{- $_ := set $affinity "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" (list $term))) -}}
{{- end -}}
{{- if $affinity -}}
{{- toYaml $affinity -}}
{{- end -}}
{{- end -}}

{{/* A Role and its binding: these groups reach the readers' port of a component by the API server's proxy, and no other Service:
     (dict "root" $ "component" "keeper" "port" 7071 "groups" LIST) */}}
{{- define "gpupool.wayByApiServer" -}}
{{- $name := printf "%s-%s" (include "gpupool.fullname" .root) .component -}}
{{- $it := dict "root" .root "component" .component "name" (printf "%s-way" $name) -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
{{ include "gpupool.metadata" $it }}
rules:
  - apiGroups: [""]
    resources: [services/proxy]
    resourceNames: ["https:{{ $name }}:{{ .port }}"]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ include "gpupool.metadata" $it }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}-way
subjects:
  {{- range .groups }}
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: {{ . | quote }}
  {{- end }}
{{- end -}}
