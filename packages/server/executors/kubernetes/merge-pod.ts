/**
 * Merges `executor_config["pod_override"]` into a pod, as Airflow's documentation describes. What the override names
 * wins. Labels and annotations are joined, as are lists of things to have (environment, volumes, mounts, tolerations
 * …). The first container of the override is merged into ours, whatever its name, and further ones are added.
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

/** An empty value counts as absent, because the models of Python's client set every field. */
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
