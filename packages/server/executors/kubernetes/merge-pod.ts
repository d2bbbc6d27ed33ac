/**
 * Lays `executor_config["pod_override"]` over a pod the way Airflow's documentation describes: what the override names wins;
 * labels and annotations are joined; the first container of the override is laid over ours, whatever its name, and further
 * ones run beside it; lists that are about having things (environment, volumes, mounts, tolerations …) are joined.
 */
import type { V1Container, V1Pod, V1PodSpec } from '@kubernetes/client-node';

type Fields = Record<string, unknown>;

const JOINED_IN_POD = ['volumes', 'initContainers', 'tolerations', 'imagePullSecrets', 'hostAliases'] as const;
const JOINED_IN_CONTAINER = ['env', 'envFrom', 'volumeMounts', 'volumeDevices', 'ports'] as const;

export function mergePod(base: V1Pod, override: V1Pod): V1Pod {
  const [first, ...beside] = override.spec?.containers ?? [];
  const [own, ...others] = base.spec?.containers ?? [];
  const spec = merged<V1PodSpec>(base.spec ?? { containers: [] }, override.spec ?? {}, JOINED_IN_POD);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      labels: { ...base.metadata?.labels, ...override.metadata?.labels },
      annotations: { ...base.metadata?.annotations, ...override.metadata?.annotations },
    },
    spec: { ...spec, containers: [...(own ? [mergeContainer(own, first)] : []), ...others, ...beside] },
  };
}

function mergeContainer(base: V1Container, override: V1Container | undefined): V1Container {
  if (!override) return base;
  return { ...merged<V1Container>(base, override, JOINED_IN_CONTAINER), name: base.name };
}

/** An empty value is as good as none: the models of Python's client fill in everything. */
function merged<T extends object>(base: T, override: Partial<T>, joined: readonly string[]): T {
  const result: T = { ...base };
  for (const [name, value] of Object.entries(override)) {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    const before = (base as Fields)[name];
    const isJoined = joined.includes(name) && Array.isArray(before) && Array.isArray(value);
    Object.assign(result, { [name]: isJoined ? [...before, ...value] : value });
  }
  return result;
}
