/**
 * Reads `executor_config={"pod_override": V1Pod(...)}` of a task from the form in which the compiler writes Python
 * objects, and checks it against what an author may never set. Registration refuses a violation, and the creation of a
 * pod checks again.
 */

/** A pod as the Kubernetes API has it. The cluster judges everything that the rules below do not cover. */
export type PodOverride = {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Fields;
};

type Fields = Readonly<Record<string, unknown>>;

/** The operator's decision about what authors may override in a pod. */
export type OverridePolicy = { allowsSecrets: boolean };

export type ReadOverride = { override: PodOverride | undefined; problems: string[] };

export function readPodOverride(executorConfig: unknown, policy: OverridePolicy): ReadOverride {
  const given = fieldsOf(executorConfig)['pod_override'];
  if (given === undefined || given === null) return { override: undefined, problems: [] };
  const unreadable: string[] = [];
  const override = plain(given, (problem) => unreadable.push(problem));
  if (unreadable.length > 0) return { override: undefined, problems: unreadable };
  if (!isFields(override)) {
    return { override: undefined, problems: ['pod_override is not a V1Pod: pass kubernetes.client.models.V1Pod(...)'] };
  }
  return { override: override as PodOverride, problems: problemsOf(override, policy) };
}

/** One refused setting: its path, the values that are refused, and the reason. */
type Rule = { path: string; isRefused: (value: unknown) => boolean; why: string };

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const isTrue = (value: unknown): boolean => value === true;
const OWN_LABEL = /^(svc\.dev\/|app\.kubernetes\.io\/managed-by$)/;
const hasOwnName = (value: unknown): boolean => Object.keys(fieldsOf(value)).some((name) => OWN_LABEL.test(name));

const ESCAPES = 'it would reach beyond the pod';
const CREDENTIALS = 'tasks get no token of the cluster';
const HARDENED = 'task containers have no privileges';

/** `containers[]` also covers init containers. */
const NEVER: readonly Rule[] = [
  { path: 'metadata.labels', isRefused: hasOwnName, why: 'labels that begin with svc.dev/ belong to svc' },
  { path: 'metadata.annotations', isRefused: hasOwnName, why: 'annotations that begin with svc.dev/ belong to svc' },
  { path: 'metadata.name', isRefused: isSet, why: 'the name says which attempt the pod belongs to' },
  { path: 'metadata.namespace', isRefused: isSet, why: 'executor.task_namespace decides it' },
  { path: 'spec.hostNetwork', isRefused: isTrue, why: ESCAPES },
  { path: 'spec.hostPID', isRefused: isTrue, why: ESCAPES },
  { path: 'spec.hostIPC', isRefused: isTrue, why: ESCAPES },
  { path: 'spec.hostUsers', isRefused: isTrue, why: ESCAPES },
  {
    path: 'spec.nodeName',
    isRefused: isSet,
    why: 'the scheduler of the cluster decides it: use nodeSelector or affinity',
  },
  { path: 'spec.automountServiceAccountToken', isRefused: isTrue, why: CREDENTIALS },
  { path: 'spec.volumes[].projected.sources[].serviceAccountToken', isRefused: isSet, why: CREDENTIALS },
  { path: 'spec.volumes[].hostPath', isRefused: isSet, why: ESCAPES },
  {
    path: 'spec.restartPolicy',
    isRefused: (value) => isSet(value) && value !== 'Never',
    why: 'svc itself tries again',
  },
  { path: 'spec.ephemeralContainers', isRefused: isSet, why: 'they are made for pods that run' },
  { path: 'spec.securityContext.runAsUser', isRefused: (value) => value === 0, why: HARDENED },
  { path: 'spec.securityContext.runAsNonRoot', isRefused: (value) => value === false, why: HARDENED },
  { path: 'spec.securityContext.sysctls', isRefused: isSet, why: ESCAPES },
  { path: 'spec.containers[].securityContext.privileged', isRefused: isTrue, why: HARDENED },
  { path: 'spec.containers[].securityContext.allowPrivilegeEscalation', isRefused: isTrue, why: HARDENED },
  { path: 'spec.containers[].securityContext.capabilities.add[]', isRefused: isSet, why: HARDENED },
  { path: 'spec.containers[].securityContext.runAsUser', isRefused: (value) => value === 0, why: HARDENED },
  { path: 'spec.containers[].securityContext.runAsNonRoot', isRefused: (value) => value === false, why: HARDENED },
  { path: 'spec.containers[].securityContext.procMount', isRefused: isSet, why: HARDENED },
  { path: 'spec.containers[].ports[].hostPort', isRefused: isSet, why: ESCAPES },
  {
    path: 'spec.containers[].env[].name',
    isRefused: (name) => typeof name === 'string' && name.startsWith('SVC_'),
    why: 'names that begin with SVC_ belong to svc',
  },
  { path: 'spec.containers[0].command', isRefused: isSet, why: 'the agent is the program of the task container' },
  { path: 'spec.containers[0].args', isRefused: isSet, why: 'the agent is the program of the task container' },
];

const SECRETS_WHY = 'executor.pod_override_secrets is off: read secrets as connections and variables';
const SECRETS: readonly Rule[] = [
  { path: 'spec.volumes[].secret', isRefused: isSet, why: SECRETS_WHY },
  { path: 'spec.volumes[].projected.sources[].secret', isRefused: isSet, why: SECRETS_WHY },
  { path: 'spec.containers[].env[].valueFrom.secretKeyRef', isRefused: isSet, why: SECRETS_WHY },
  { path: 'spec.containers[].envFrom[].secretRef', isRefused: isSet, why: SECRETS_WHY },
];

/** Rendered in docs/kubernetes.md. */
export const REFUSED_IN_OVERRIDES = [...NEVER, ...SECRETS].map(({ path, why }) => ({ path, why }));

function problemsOf(override: Fields, { allowsSecrets }: OverridePolicy): string[] {
  const rules = allowsSecrets ? NEVER : [...NEVER, ...SECRETS];
  return rules.flatMap(({ path, isRefused, why }) =>
    placesOf(path).some((place) => valuesAt(override, place.split('.')).some(isRefused))
      ? [`pod_override sets ${path}, which an author may not: ${why}`]
      : [],
  );
}

const placesOf = (path: string): string[] =>
  path.startsWith('spec.containers[]') ? [path, path.replace('spec.containers', 'spec.initContainers')] : [path];

/** Returns all values at a path. `name[]` is every item of a list, `name[0]` the first. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  const [, name = '', index] = /^(\w+)(?:\[(\d*)\])?$/.exec(step) ?? [];
  const found = fieldsOf(value)[name];
  if (found === undefined || found === null) return [];
  if (index === undefined) return valuesAt(found, rest);
  const items = Array.isArray(found) ? found : [];
  const chosen = index === '' ? items : items.slice(Number(index), Number(index) + 1);
  return chosen.flatMap((item) => valuesAt(item, rest));
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** Names in the Python client that differ from the API in more than their case. */
const IRREGULAR: Readonly<Record<string, string>> = {
  host_ip: 'hostIP',
  host_ipc: 'hostIPC',
  host_pid: 'hostPID',
  pod_ip: 'podIP',
  set_hostname_as_fqdn: 'setHostnameAsFQDN',
  scale_io: 'scaleIO',
  downward_api: 'downwardAPI',
  volume_id: 'volumeID',
  pd_id: 'pdID',
  storage_policy_id: 'storagePolicyID',
  dataset_uuid: 'datasetUUID',
  disk_uri: 'diskURI',
  target_wwns: 'targetWWNs',
  target_ww_ns: 'targetWWNs',
  _from: 'from',
  _exec: 'exec',
};

const camelCase = (name: string): string =>
  IRREGULAR[name] ?? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Converts a recorded object to fields with the names of the API, without values that were not given. Keys of plain
 * dicts belong to the author (labels, limits, node selectors) and stay unchanged. An unreadable value is reported,
 * because the pod would lack it.
 */
function plain(value: unknown, tell: (problem: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, tell));
  if (!isFields(value)) return value;
  switch (value['__type']) {
    case undefined:
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, tell)]));
    case 'object':
      return plainObject(value, tell);
    case 'tuple':
      return plain(value['items'], tell);
    case 'int':
      return Number(value['value']);
    default:
      tell(
        `pod_override has a value of the kind ${String(value['__type'])}, which no pod has: use models and plain data`,
      );
      return null;
  }
}

function plainObject(value: Fields, tell: (problem: string) => void): unknown {
  const name = String(value['class']).split('.').at(-1);
  const { args, kwargs } = value;
  if (Array.isArray(args) && args.length > 0) {
    tell(`pod_override has ${name}(...) with arguments that are not named: write their names`);
  } else if (!isFields(kwargs)) {
    tell(`pod_override has an object of the class ${name}, which is no model of Kubernetes: use models and plain data`);
  }
  return Object.fromEntries(
    Object.entries(fieldsOf(kwargs)).flatMap(([field, item]) =>
      item === null ? [] : [[camelCase(field), plain(item, tell)]],
    ),
  );
}
