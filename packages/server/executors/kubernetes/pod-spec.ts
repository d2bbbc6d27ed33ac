/**
 * Builds the pod of an attempt. Pure: its types list all inputs, and equal inputs give equal pods.
 *
 * The order of precedence, strongest first: what the platform requires, `executor_config["pod_override"]` of the task,
 * `execution` and `resources` of the task, `executor.defaults.*`.
 */
import type { V1Container, V1EnvVar, V1Pod, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import type { TaskExecution, TaskResources } from '@svc/spec/project/pod-settings.ts';
import type { TaskSettings } from '../task-settings.ts';
import { mergePod } from './merge-pod.ts';
import { podAnnotations, podLabels, podName } from './pod-names.ts';
import type { PodIdentity } from './pod-names.ts';
import { TASK_CONTAINER } from './pod-verdict.ts';

export type PodSettings = {
  namespace: string;
  installation: string;
  serviceAccount: string;
  /** The config map with the authority of the control plane's certificate. Empty: no TLS. */
  caConfigMap: string;
  secret: { name: string; mountPath: string };
  runAsNonRoot: boolean;
  readOnlyRootFilesystem: boolean;
  resources: { cpu: string; memory: string };
  gpuResource: string;
  terminationGraceSeconds: number;
  /** Variables that the operator sets for every task. */
  task: TaskSettings;
};

export type PodInput = {
  identity: PodIdentity;
  /** As users know it. */
  runId: string;
  /** The id of the process that creates it. */
  owner: string;
  image: string;
  /** True when the image was built for the DAG and contains its packages. */
  isOwnImage: boolean;
  settings: PodSettings;
  /** `host:port` of the control plane, as pods reach it. */
  controlPlane: string;
  /** The attempt's own credential, or a token of the pod to exchange for it. */
  credential: { kind: 'token'; token: string } | { kind: 'exchange'; audience: string; expirationSeconds: number };
  resources: TaskResources;
  execution: TaskExecution;
  /** The author's override, checked already (spec/project/pod-override.ts). */
  override: V1Pod | undefined;
  /** The name of the claim with the files of the run. Undefined without staging. */
  stagingClaim: string | undefined;
};

/** The user of the shipped images. The group owns volumes, so that the user may write to them. */
export const TASK_GROUP = 10_001;
export const STAGING_PATH = '/staging';
const CA_FOLDER = '/etc/svc/ca';
const TOKEN_FOLDER = '/var/run/secrets/svc.dev';
const TOKEN_FILE = 'token';
/** A pod token for secret stores that identify tasks by it. No other service accepts it, including the cluster. */
const STORE_TOKEN = { folder: '/var/run/secrets/svc-secrets', audience: 'svc-secrets', expirationSeconds: 3_600 };

export function buildPod(input: PodInput): V1Pod {
  const { identity, settings, execution, runId } = input;
  const volumes = volumesOf(input);
  const base: V1Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: execution.labels ?? {}, annotations: execution.annotations ?? {} },
    spec: {
      restartPolicy: 'Never',
      containers: [containerOf(input, volumes)],
      volumes: volumes.map(({ volume }) => volume),
      enableServiceLinks: false,
      terminationGracePeriodSeconds: settings.terminationGraceSeconds,
      ...scheduling(input),
    },
  };
  const pod = input.override ? mergePod(base, input.override) : base;
  return insist(pod, {
    name: podName(identity),
    namespace: settings.namespace,
    labels: podLabels(identity, { installation: settings.installation, runId }),
    annotations: podAnnotations(identity, { runId, owner: input.owner }),
    settings,
  });
}

function scheduling({ execution, settings }: PodInput) {
  const serviceAccountName = execution.service_account ?? settings.serviceAccount;
  const { node_selector, tolerations, affinity, priority_class, image_pull_secrets } = execution;
  return {
    ...(serviceAccountName !== '' && { serviceAccountName }),
    ...(node_selector && { nodeSelector: node_selector }),
    ...(tolerations && { tolerations }),
    ...(affinity && { affinity }),
    ...(priority_class && { priorityClassName: priority_class }),
    ...(image_pull_secrets && { imagePullSecrets: image_pull_secrets.map((name) => ({ name })) }),
  };
}

type Mounted = { volume: V1Volume; mount: V1VolumeMount };

function volumesOf({ settings, credential, stagingClaim }: PodInput): Mounted[] {
  const all: Mounted[] = [];
  const add = (name: string, source: Omit<V1Volume, 'name'>, mount: Omit<V1VolumeMount, 'name'>): void =>
    void all.push({ volume: { name, ...source }, mount: { name, ...mount } });
  if (settings.caConfigMap !== '') {
    add('svc-ca', { configMap: { name: settings.caConfigMap } }, { mountPath: CA_FOLDER, readOnly: true });
  }
  if (settings.secret.name !== '') {
    const { name, mountPath } = settings.secret;
    add('svc-secrets', { secret: { secretName: name, defaultMode: 0o440 } }, { mountPath, readOnly: true });
  }
  if (credential.kind === 'exchange') {
    const { audience, expirationSeconds } = credential;
    const serviceAccountToken = { path: TOKEN_FILE, audience, expirationSeconds };
    const projected = { sources: [{ serviceAccountToken }], defaultMode: 0o440 };
    add('svc-token', { projected }, { mountPath: TOKEN_FOLDER, readOnly: true });
  }
  if (settings.task.SVC_SECRETS_BACKEND !== '') {
    const { folder, audience, expirationSeconds } = STORE_TOKEN;
    const serviceAccountToken = { path: TOKEN_FILE, audience, expirationSeconds };
    const projected = { sources: [{ serviceAccountToken }], defaultMode: 0o440 };
    add('svc-secrets-token', { projected }, { mountPath: folder, readOnly: true });
  }
  if (stagingClaim !== undefined) {
    add('svc-staging', { persistentVolumeClaim: { claimName: stagingClaim } }, { mountPath: STAGING_PATH });
  }
  if (settings.readOnlyRootFilesystem) {
    add('svc-tmp', { emptyDir: {} }, { mountPath: '/tmp' });
    add('svc-home', { emptyDir: {} }, { mountPath: '/home/svc' });
  }
  return all;
}

function containerOf(input: PodInput, volumes: readonly Mounted[]): V1Container {
  const { settings, credential, stagingClaim } = input;
  const env: V1EnvVar[] = [
    { name: 'SVC_AGENT_CONTROL_PLANE_ADDR', value: input.controlPlane },
    ...(settings.caConfigMap === '' ? [] : [{ name: 'SVC_AGENT_TLS_CA', value: `${CA_FOLDER}/ca.crt` }]),
    credential.kind === 'token'
      ? { name: 'SVC_AGENT_TOKEN', value: credential.token }
      : { name: 'SVC_AGENT_TOKEN_FILE', value: `${TOKEN_FOLDER}/${TOKEN_FILE}` },
    ...(input.isOwnImage ? [{ name: 'SVC_DEPENDENCIES', value: 'installed' }] : []),
    ...Object.entries(settings.task).map(([name, value]) => ({ name, value })),
    ...(stagingClaim === undefined ? [] : [{ name: 'SVC_STAGING_DIR', value: STAGING_PATH }]),
  ];
  return {
    name: TASK_CONTAINER,
    image: input.image,
    // A digest always names the same image. A tag may have moved.
    imagePullPolicy: input.image.includes('@sha256:') ? 'IfNotPresent' : 'Always',
    args: ['run'],
    env,
    volumeMounts: volumes.map(({ mount }) => mount),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: resourcesOf(input),
  };
}

/** Sets requests and limits to the same amounts, so that a task may use exactly what was reserved. */
function resourcesOf({ resources, settings }: PodInput): NonNullable<V1Container['resources']> {
  const amounts: Record<string, string> = {
    ...(settings.resources.cpu !== '' && { cpu: settings.resources.cpu }),
    ...(settings.resources.memory !== '' && { memory: settings.resources.memory }),
    ...(resources.cpu && { cpu: resources.cpu }),
    ...(resources.memory && { memory: resources.memory }),
    ...(resources.ephemeral_storage && { 'ephemeral-storage': resources.ephemeral_storage }),
    ...(resources.gpu && { [settings.gpuResource]: String(resources.gpu) }),
    ...Object.fromEntries(Object.entries(resources.extended ?? {}).map(([name, count]) => [name, String(count)])),
  };
  return Object.keys(amounts).length === 0 ? {} : { requests: amounts, limits: { ...amounts } };
}

/** Sets what no author may change, after all merges. */
function insist(
  pod: V1Pod,
  own: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    settings: PodSettings;
  },
): V1Pod {
  const { settings } = own;
  // The name of the pod must be its host name, because a start is answered only to its own host
  // (engine/sql/attempts.ts).
  const {
    hostname: _hostname,
    subdomain: _subdomain,
    setHostnameAsFQDN: _fqdn,
    ...spec
  } = pod.spec ?? { containers: [] };
  const hardened = (container: V1Container): V1Container => ({
    ...container,
    securityContext: {
      ...container.securityContext,
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
      ...(settings.runAsNonRoot && { runAsNonRoot: true }),
      ...(settings.readOnlyRootFilesystem && { readOnlyRootFilesystem: true }),
      seccompProfile: { type: 'RuntimeDefault' },
    },
  });
  return {
    ...pod,
    metadata: {
      name: own.name,
      namespace: own.namespace,
      labels: { ...pod.metadata?.labels, ...own.labels },
      annotations: { ...pod.metadata?.annotations, ...own.annotations },
    },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      securityContext: {
        ...spec.securityContext,
        ...(settings.runAsNonRoot && { runAsNonRoot: true }),
        fsGroup: spec.securityContext?.fsGroup ?? TASK_GROUP,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: spec.containers.map(hardened),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(hardened) }),
    },
  };
}
