import { describe, expect, it } from 'vitest';
import { REFUSED_IN_OVERRIDES, readPodOverride } from './pod-override.ts';

const model = (name: string, kwargs: object) => ({
  __type: 'object',
  class: `kubernetes.client.models.${name}`,
  args: [],
  kwargs,
});
const SAFE = { allowsSecrets: false };

/** What the compiler writes for V1Pod(...). */
const pod = (spec: object, metadata: object = {}) => ({
  pod_override: model('V1Pod', { metadata: model('V1ObjectMeta', metadata), spec: model('V1PodSpec', spec) }),
});
const problems = (config: unknown, policy = SAFE): string[] => readPodOverride(config, policy).problems;

describe('pod_override', () => {
  it('is read as the API of Kubernetes has it; keys of dicts stay as they are', () => {
    const config = pod(
      {
        node_selector: { 'disk_type/x': 'ssd' },
        host_aliases: [],
        service_account: null,
        containers: [
          model('V1Container', {
            name: 'base',
            resources: model('V1ResourceRequirements', { limits: { memory: '1Gi' } }),
            volume_mounts: [model('V1VolumeMount', { name: 'data', mount_path: '/data' })],
          }),
        ],
      },
      { labels: { team_name: 'x' } },
    );
    expect(readPodOverride(config, SAFE)).toEqual({
      problems: [],
      override: {
        metadata: { labels: { team_name: 'x' } },
        spec: {
          nodeSelector: { 'disk_type/x': 'ssd' },
          hostAliases: [],
          containers: [
            {
              name: 'base',
              resources: { limits: { memory: '1Gi' } },
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
        },
      },
    });
  });

  it('has the names of the API where they are not simply those of Python in another case', () => {
    const config = pod({
      volumes: [model('V1Volume', { name: 'v', downward_api: model('V1DownwardAPIVolumeSource', {}) })],
    });
    expect(readPodOverride(config, SAFE).override?.spec).toEqual({ volumes: [{ name: 'v', downwardAPI: {} }] });
  });

  it.each([
    [
      'arguments without names',
      { ...model('V1Container', {}), args: ['base'] },
      'V1Container(...) with arguments that are not named',
    ],
    ['an object of something else', { __type: 'object', class: 'my.Thing' }, 'the class Thing, which is no model'],
    ['a reference', { __type: 'reference', path: 'kubernetes.client.X' }, 'the kind reference'],
  ])('is refused when part of it would be missing: %s', (_name, container, words) => {
    expect(problems(pod({ containers: [container] }))).toEqual([expect.stringContaining(words)]);
  });

  it('is nothing when there is none, and refused when it is no pod', () => {
    for (const none of [null, undefined, {}, { pod_override: null }, { other: 1 }]) {
      expect(readPodOverride(none, SAFE)).toEqual({ override: undefined, problems: [] });
    }
    expect(problems({ pod_override: 'x' })).toEqual([expect.stringContaining('is not a V1Pod')]);
  });

  it.each<[string, object, object?]>([
    ['spec.hostNetwork', { host_network: true }],
    ['spec.hostPID', { host_pid: true }],
    ['spec.hostIPC', { host_ipc: true }],
    ['spec.automountServiceAccountToken', { automount_service_account_token: true }],
    [
      'spec.volumes[].hostPath',
      { volumes: [model('V1Volume', { host_path: model('V1HostPathVolumeSource', { path: '/' }) })] },
    ],
    [
      'spec.volumes[].projected.sources[].serviceAccountToken',
      { volumes: [{ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }] },
    ],
    ['spec.containers[].securityContext.privileged', { containers: [{ securityContext: { privileged: true } }] }],
    ['spec.containers[].securityContext.privileged', { init_containers: [{ securityContext: { privileged: true } }] }],
    [
      'spec.containers[].securityContext.capabilities.add[]',
      { containers: [{}, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] },
    ],
    ['spec.containers[].securityContext.runAsUser', { containers: [{ securityContext: { runAsUser: 0 } }] }],
    ['spec.containers[].env[].name', { containers: [{ env: [{ name: 'SVC_AGENT_TOKEN', value: 'x' }] }] }],
    ['spec.containers[0].command', { containers: [{ command: ['sh'] }] }],
    ['spec.volumes[].secret', { volumes: [{ secret: { secretName: 'x' } }] }],
    ['spec.containers[].envFrom[].secretRef', { containers: [{ envFrom: [{ secretRef: { name: 'x' } }] }] }],
    ['metadata.labels', {}, { labels: { 'svc.dev/tenant': 'other' } }],
    ['metadata.annotations', {}, { annotations: { 'svc.dev/identity': '{}' } }],
  ])('may not set %s', (path, spec, metadata = {}) => {
    expect(problems(pod(spec, metadata))).toEqual([expect.stringContaining(`sets ${path}, which`)]);
  });

  it('may name secrets where the operator allows it', () => {
    const config = pod({ volumes: [{ secret: { secretName: 'x' } }] });
    expect(problems(config, { allowsSecrets: true })).toEqual([]);
  });

  it('may give a sidecar its own program, and every rule has a reason', () => {
    expect(problems(pod({ containers: [{ name: 'base' }, { name: 'proxy', command: ['sh'] }] }))).toEqual([]);
    expect(REFUSED_IN_OVERRIDES.every(({ why }) => why.length > 10)).toBe(true);
  });
});
