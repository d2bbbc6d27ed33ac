import { describe, expect, it } from 'vitest';
import { podIdentity } from '@svc/testing/kubernetes/pod-identity.ts';
import { POD_SETTINGS } from '@svc/testing/kubernetes/pod-settings.ts';
import { buildPod } from './pod-spec.ts';
import type { PodInput, PodSettings } from './pod-spec.ts';

const build = (more: Partial<PodInput> = {}, settings: Partial<PodSettings> = {}) =>
  buildPod({
    identity: podIdentity(),
    runId: 'manual',
    owner: 'p',
    image: 'registry/d@sha256:0',
    isOwnImage: true,
    controlPlane: 'svc:9091',
    credential: { kind: 'token', token: 'secret' },
    resources: {},
    execution: {},
    override: undefined,
    stagingClaim: undefined,
    ...more,
    settings: { ...POD_SETTINGS, ...settings },
  });
const taskOf = (pod: ReturnType<typeof build>) => {
  const [task] = pod.spec?.containers ?? [];
  if (!task) throw new Error('no container');
  return task;
};
const envOf = (pod: ReturnType<typeof build>) =>
  Object.fromEntries((taskOf(pod).env ?? []).map(({ name, value }) => [name, value]));

describe('the pod of an attempt', () => {
  it('runs the agent without privileges, as nobody, with no token of the cluster', () => {
    const { metadata, spec } = build();
    expect(metadata).toMatchObject({ name: 'svc-a', namespace: 'tasks' });
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      securityContext: { runAsNonRoot: true, fsGroup: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(spec?.containers).toEqual([
      expect.objectContaining({
        name: 'task',
        args: ['run'],
        imagePullPolicy: 'IfNotPresent',
        securityContext: expect.objectContaining({
          allowPrivilegeEscalation: false,
          privileged: false,
          capabilities: { drop: ['ALL'] },
          runAsNonRoot: true,
        }),
      }),
    ]);
    expect(build({}, { runAsNonRoot: false }).spec?.securityContext?.runAsNonRoot).toBeUndefined();
  });

  it('has what the task asks for, and the defaults of the operator for the rest, as request and limit', () => {
    const pod = build({ resources: { memory: '1Gi', gpu: 2 } }, { resources: { cpu: '250m', memory: '256Mi' } });
    const amounts = { cpu: '250m', memory: '1Gi', 'nvidia.com/gpu': '2' };
    expect(taskOf(pod).resources).toEqual({ requests: amounts, limits: amounts });
    expect(taskOf(build()).resources).toEqual({});
  });

  it('is placed as execution says; the service account of the task wins over that of the operator', () => {
    const execution = {
      service_account: 'etl',
      node_selector: { disk: 'ssd' },
      tolerations: [{ key: 'gpu', operator: 'Exists' as const }],
      affinity: { nodeAffinity: {} },
      priority_class: 'high',
      image_pull_secrets: ['pull'],
      labels: { team: 'x', 'svc.dev/attempt': 'forged' },
    };
    const pod = build({ execution }, { serviceAccount: 'default-tasks' });
    expect(pod.spec).toMatchObject({
      serviceAccountName: 'etl',
      nodeSelector: { disk: 'ssd' },
      tolerations: execution.tolerations,
      affinity: { nodeAffinity: {} },
      priorityClassName: 'high',
      imagePullSecrets: [{ name: 'pull' }],
    });
    expect(pod.metadata?.labels).toMatchObject({ team: 'x', 'svc.dev/attempt': 'a' });
    expect(build({}, { serviceAccount: 'default-tasks' }).spec?.serviceAccountName).toBe('default-tasks');
  });

  it('carries the credential, or a token of its own to exchange for it, and never both', () => {
    expect(envOf(build())).toMatchObject({ SVC_AGENT_TOKEN: 'secret', SVC_AGENT_CONTROL_PLANE_ADDR: 'svc:9091' });
    const pod = build({ credential: { kind: 'exchange', audience: 'svc-agent', expirationSeconds: 600 } });
    expect(envOf(pod)).not.toHaveProperty('SVC_AGENT_TOKEN');
    expect(envOf(pod)).toHaveProperty('SVC_AGENT_TOKEN_FILE');
    expect(pod.spec?.volumes?.[0]?.projected?.sources).toEqual([
      { serviceAccountToken: { path: 'token', audience: 'svc-agent', expirationSeconds: 600 } },
    ]);
  });

  it('has every setting of the operator for tasks, the empty ones too: no config map can fill a place left open', () => {
    expect(envOf(build())).toMatchObject({ SVC_SECRETS_BACKEND: '', SVC_SECRETS_BACKEND_KWARGS: '' });
    const task = {
      SVC_HTTP_USER_AGENT: 'flows/7',
      SVC_SECRETS_BACKEND: 'a.Store',
      SVC_SECRETS_BACKEND_KWARGS: '{"variables_prefix":"v"}',
    };
    expect(envOf(build({}, { task }))).toMatchObject(task);
  });

  it('has a token for the store of secrets when there is one, which says who it is to nobody else', () => {
    const task = { SVC_HTTP_USER_AGENT: 'x', SVC_SECRETS_BACKEND: 'a.Store', SVC_SECRETS_BACKEND_KWARGS: '{}' };
    const tokens = (pod: ReturnType<typeof build>) =>
      pod.spec?.volumes?.flatMap(({ projected }) => projected?.sources?.map((source) => source.serviceAccountToken)) ??
      [];
    expect(tokens(build({}, { task }))).toContainEqual(expect.objectContaining({ audience: 'svc-secrets' }));
    expect(tokens(build())).not.toContainEqual(expect.objectContaining({ audience: 'svc-secrets' }));
  });

  it('mounts the authority, the secret and the files of the run where they are, and room to write when the rest is read-only', () => {
    const pod = build(
      { stagingClaim: 'claim' },
      { caConfigMap: 'ca', secret: { name: 's', mountPath: '/etc/x' }, readOnlyRootFilesystem: true },
    );
    expect(taskOf(pod).volumeMounts?.map(({ mountPath, readOnly }) => [mountPath, readOnly === true])).toEqual([
      ['/etc/svc/ca', true],
      ['/etc/x', true],
      ['/staging', false],
      ['/tmp', false],
      ['/home/svc', false],
    ]);
    expect(envOf(pod)).toMatchObject({ SVC_AGENT_TLS_CA: '/etc/svc/ca/ca.crt', SVC_STAGING_DIR: '/staging' });
    expect(taskOf(pod).securityContext?.readOnlyRootFilesystem).toBe(true);
  });

  it('takes what an author lays over it, and keeps what is not for authors', () => {
    const override = {
      metadata: { labels: { team: 'x' } },
      spec: {
        hostname: 'other',
        nodeSelector: { disk: 'ssd' },
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [
          {
            name: 'base',
            image: 'other:1',
            env: [{ name: 'A', value: '1' }],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
            resources: { limits: { memory: '2Gi' } },
            securityContext: { privileged: true, runAsUser: 5_000 },
          },
          { name: 'proxy', image: 'proxy:1', securityContext: { privileged: true } },
        ],
      },
    };
    const pod = build({ override }, { caConfigMap: 'ca' });
    const [task, proxy] = pod.spec?.containers ?? [];
    expect(pod.spec).toMatchObject({ nodeSelector: { disk: 'ssd' } });
    expect(pod.spec).not.toHaveProperty('hostname');
    expect(pod.spec?.volumes?.map(({ name }) => name)).toEqual(['svc-ca', 'data']);
    expect(task).toMatchObject({
      name: 'task',
      image: 'other:1',
      args: ['run'],
      resources: { limits: { memory: '2Gi' } },
    });
    expect(task?.env?.map(({ name }) => name)).toEqual(expect.arrayContaining(['SVC_AGENT_TOKEN', 'A']));
    expect(task?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/etc/svc/ca', '/data']);
    expect(task?.securityContext).toMatchObject({ privileged: false, runAsUser: 5_000 });
    expect(proxy).toMatchObject({
      name: 'proxy',
      securityContext: { privileged: false, capabilities: { drop: ['ALL'] } },
    });
  });
});
