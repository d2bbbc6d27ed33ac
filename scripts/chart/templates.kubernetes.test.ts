import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '@svc/server/config/load.ts';
import { configKeys, definitionOf } from '@svc/server/config/keys.ts';
import type { ConfigKey } from '@svc/server/config/keys.ts';
import { createMetrics } from '@svc/server/telemetry/metrics.ts';
import { CHART, lint, named, ofKind, render } from './helm.ts';
import type { Manifest, Values } from './helm.ts';
import { inConfig, isSecretKey } from './schema.ts';

const BUNDLED = { postgres: { enabled: true } };
const SPLIT = { ...BUNDLED, mode: 'split', logs: { persistence: { accessMode: 'ReadWriteMany' } } };
const EXCHANGE = { config: { auth: { agent_token_transport: 'exchange' } } };

/** A Secret's data as variables. */
const variablesOf = (secret: Manifest): Record<string, string> =>
  Object.fromEntries(
    Object.entries((secret['data'] ?? {}) as Record<string, string>).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString('utf8'),
    ]),
  );

/** `kind/name` of what a role of the cluster is bound to. */
const subjectsOf = (manifests: readonly Manifest[], kind: string): string[] =>
  ofKind(manifests, kind).flatMap(({ subjects }) => (subjects as { name: string }[]).map(({ name }) => name));

const podsOf = (manifests: readonly Manifest[]): [string, Manifest][] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map((manifest) => [manifest.metadata.name, manifest['spec'].template.spec as Manifest]);

function nested(values: ReadonlyMap<ConfigKey, unknown>): Values {
  const root: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const path = key.split('.');
    let branch = root;
    for (const name of path.slice(0, -1)) branch = (branch[name] ??= {}) as Record<string, unknown>;
    branch[path.at(-1) ?? ''] = value;
  }
  return root;
}

/** Allowed, and not the default. */
function otherValue(key: ConfigKey): unknown {
  const definition = definitionOf(key);
  switch (definition.type) {
    case 'int':
      return Math.max(definition.min ?? 0, Math.min(definition.max ?? 2_000_000, 2_000_000));
    case 'bool':
      return !definition.default;
    case 'duration':
      return '77s';
    case 'enum':
      return definition.values.find((word) => word !== definition.default && word !== '');
    case 'address':
      return '0.0.0.0:7654';
    case 'list':
      return [fitting(definition.pattern)];
    case 'map':
      return { one: 'two' };
    case 'json':
      return '{"a":1}';
    case 'secret':
      return key.startsWith('secret_key') ? 'ab'.repeat(32) : '00123';
    case 'string':
      return fitting(definition.pattern);
  }
}

const TEXTS = [
  'something',
  '/etc/something',
  'me@example.com',
  '17',
  'redis://me:pass@host',
  'postgres://me:pass@host/name',
  'http://a.example',
  'a.example/gpu',
  'orchestrator, remote',
  'package.module',
];

/** A text that a key with this pattern takes. */
function fitting(pattern: RegExp | undefined): string {
  const found = TEXTS.find((text) => !pattern || pattern.test(text));
  if (found === undefined) throw new Error(`add a text to this test that fits ${pattern}`);
  return found;
}

describe('helm lint', () => {
  it.each([
    ['all in one', BUNDLED],
    ['split', SPLIT],
    ['exchange', { ...BUNDLED, ...EXCHANGE }],
    ['an external database', { secretConfig: { database: { url: 'postgres://a:b@c/d' } } }],
    ['everything on', { ...SPLIT, ingress: { enabled: true, host: 'flows.example.com', tlsSecret: 'tls' }, metrics: { serviceMonitor: { enabled: true }, dashboard: { enabled: true } } }], // prettier-ignore
  ])('has nothing to say: %s', async (_name, values) => {
    expect(await lint(values)).toContain('0 chart(s) failed');
  });

  it.each([
    ['a mode that is none', { mode: 'both' }, /mode/],
    ['a value that is none', { replicas: 3 }, /replicas/],
    ['a key of the configuration that is none', { config: { server: { http_adr: ':80' } } }, /http_adr/],
    ['a bad value of a key', { config: { executor: { parallelism: 0 } } }, /parallelism/],
    ['a secret in the config map', { config: { auth: { jwt: { secret: 'x' } } } }, /jwt/],
    ['a grace period below that of requests', { terminationGracePeriodSeconds: 5 }, /terminationGracePeriodSeconds/],
  ])('refuses %s', async (_name, values, message) => {
    await expect(lint({ ...BUNDLED, ...values })).rejects.toThrow(message);
  });

  it.each([
    ['no database', {}, /no database: set secretConfig.database.url/],
    ['split with logs that the API cannot read', { ...BUNDLED, mode: 'split' }, /logs.backend/],
    ['a certificate whose authority no agent knows', { ...BUNDLED, agentTls: { existingSecret: 'x' } }, /agentTls.ca/],
    ['an ingress without a host', { ...BUNDLED, ingress: { enabled: true } }, /ingress.host/],
  ])('an installation is refused for %s', async (_name, values, message) => {
    await expect(render(values)).rejects.toThrow(message);
  });
});

describe('rights in the cluster', () => {
  it('only the scheduler has any, in the namespace of tasks; the API has neither a right nor a token', async () => {
    const manifests = await render(SPLIT);
    const role = named(manifests, 'Role', 'demo-svc-executor');
    expect(role.metadata.namespace).toBe('flows-tasks');
    expect(role['rules']).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'],
      },
    ]);
    expect(ofKind(manifests, 'Role').length).toBe(1);
    expect(subjectsOf(manifests, 'RoleBinding')).toEqual(['demo-svc-scheduler']);
    expect(ofKind(manifests, 'ClusterRole')).toEqual([]);
    const mounts = Object.fromEntries(
      podsOf(manifests).map(([name, pod]) => [name, pod['automountServiceAccountToken']]),
    );
    expect(mounts).toEqual({
      'demo-svc-api': false,
      'demo-svc-scheduler': true,
      'demo-svc-postgres': false,
      'demo-svc-migration': false,
    });
    const accounts = ofKind(manifests, 'ServiceAccount').map((one) => [
      one.metadata.name,
      one['automountServiceAccountToken'],
    ]);
    expect(Object.fromEntries(accounts)).toEqual({
      'demo-svc-api': false,
      'demo-svc-scheduler': true,
      'demo-svc-task': false,
    });
  });

  it('token reviews are asked for with exchange only, by the scheduler only', async () => {
    expect(ofKind(await render(BUNDLED), 'ClusterRoleBinding')).toEqual([]);
    const manifests = await render({ ...SPLIT, ...EXCHANGE });
    expect(ofKind(manifests, 'ClusterRole').map(({ rules }) => rules as unknown)).toEqual([
      [{ apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] }],
    ]);
    expect(subjectsOf(manifests, 'ClusterRoleBinding')).toEqual(['demo-svc-scheduler']);
  });
});

describe('pods', () => {
  it.each([
    ['all', BUNDLED],
    ['split', SPLIT],
  ])('run without privileges on a root that is read-only: %s', async (_mode, values) => {
    for (const [name, pod] of podsOf(await render(values))) {
      expect(pod['securityContext'], name).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of pod['containers']) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('are probed, and have longer to end than requests and transactions last', async () => {
    for (const role of ['api', 'scheduler']) {
      const pod = named(await render(SPLIT), 'Deployment', `demo-svc-${role}`)['spec'].template.spec;
      const [container] = pod.containers;
      expect(container.livenessProbe.httpGet.path).toBe('/healthz');
      expect(container.readinessProbe.httpGet.path).toBe('/readyz');
      const { config } = loadConfig({ env: {} });
      const longest = Math.max(config.database.idleInTransactionTimeout, config.database.statementTimeout) / 1_000;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longest + 20);
    }
  });

  it('leave before the next one comes when only one node can have the volume of the logs', async () => {
    const strategyOf = async (values: Values): Promise<string> =>
      named(await render(values), 'Deployment', 'demo-svc')['spec'].strategy.type;
    expect(await strategyOf(BUNDLED)).toBe('Recreate');
    expect(await strategyOf({ ...BUNDLED, logs: { persistence: { accessMode: 'ReadWriteMany' } } })).toBe('RollingUpdate'); // prettier-ignore
    expect(await strategyOf({ ...BUNDLED, config: { logs: { backend: 'objstore', sink: { bucket: 'b' } } } })).toBe('RollingUpdate'); // prettier-ignore
  });

  it('may be drained from nodes one at a time', async () => {
    const budgets = ofKind(await render(SPLIT), 'PodDisruptionBudget');
    expect(budgets.map(({ metadata, spec }) => [metadata.name, spec.maxUnavailable as number])).toEqual([
      ['demo-svc-api', 1],
      ['demo-svc-scheduler', 1],
    ]);
  });
});

describe('the network', () => {
  it('tasks reach the RPC port and DNS; HTTP, metrics and Postgres refuse them', async () => {
    const manifests = await render({ ...SPLIT, networkPolicy: { taskEgress: [] } });
    const tasks = named(manifests, 'NetworkPolicy', 'demo-svc-tasks');
    expect(tasks.metadata.namespace).toBe('flows-tasks');
    expect(tasks['spec'].policyTypes).toEqual(['Ingress', 'Egress']);
    expect(tasks['spec'].ingress).toBeUndefined();
    const [rpc, dns, ...others] = tasks['spec'].egress;
    expect(others).toEqual([]);
    expect(rpc.ports).toEqual([{ protocol: 'TCP', port: 9091 }]);
    expect(rpc.to[0].podSelector.matchLabels['app.kubernetes.io/component']).toBe('scheduler');
    expect(dns.ports.map(({ port }: { port: number }) => port)).toEqual([53, 53]);

    const notTasks = { matchExpressions: [{ key: 'svc.dev/attempt', operator: 'DoesNotExist' }] };
    const onlyTasks = { matchExpressions: [{ key: 'svc.dev/attempt', operator: 'Exists' }] };
    const rules = (name: string): Manifest[] => named(manifests, 'NetworkPolicy', name)['spec'].ingress;
    for (const name of ['demo-svc-api', 'demo-svc-scheduler']) {
      for (const rule of rules(name)) {
        const isRpc = rule['ports'][0].port === 'rpc';
        expect(rule['from'][0].podSelector).toEqual(isRpc ? onlyTasks : notTasks);
      }
    }
    expect(rules('demo-svc-api').map(({ ports }) => ports[0].port as string)).toEqual(['http', 'metrics']);
    expect(rules('demo-svc-scheduler').map(({ ports }) => ports[0].port as string)).toEqual(['metrics', 'rpc']);
    expect(rules('demo-svc-postgres')[0]?.['from'][0].podSelector.matchExpressions[0].values).toEqual([
      'all',
      'api',
      'scheduler',
      'migration',
    ]);
  });

  it('the ingress is what users are told the server is', async () => {
    const manifests = await render({ ...BUNDLED, ingress: { enabled: true, host: 'flows.example.com', tlsSecret: 'tls', path: '/svc' } }); // prettier-ignore
    expect(named(manifests, 'Ingress', 'demo-svc')['spec'].tls).toEqual([
      { hosts: ['flows.example.com'], secretName: 'tls' },
    ]);
    expect(configOf(manifests).config.server).toMatchObject({
      baseUrl: 'https://flows.example.com/svc',
      cors: { allowedOrigins: ['https://flows.example.com'] },
    });
  });
});

/** As a pod of the chart loads it. */
function configOf(manifests: readonly Manifest[]): ReturnType<typeof loadConfig> {
  const file: string = named(manifests, 'ConfigMap', 'demo-svc-config')['data']['server.yaml'];
  const env = variablesOf(named(manifests, 'Secret', 'demo-svc'));
  return loadConfig({ file: 'server.yaml', readFile: () => file, env });
}

describe('the configuration', () => {
  it('every key that is set reaches the server as it was written', async () => {
    const values = new Map(configKeys.map((key) => [key, otherValue(key)]));
    const only = (wanted: (key: ConfigKey) => boolean): Values =>
      nested(new Map([...values].filter(([key]) => wanted(key))));
    const manifests = await render({
      config: { ...only(inConfig), logs: { ...(only(inConfig)['logs'] as object), backend: 'objstore' } },
      secretConfig: only(isSecretKey),
    });
    const { entries, warnings } = configOf(manifests);
    const unset = entries.filter(({ key, source }) => source === 'default' && (inConfig(key) || isSecretKey(key)));
    expect(unset.map(({ key }) => key)).toEqual([]);
    const inForce = new Map(entries.map(({ key, value }) => [key, value]));
    expect(inForce.get('xcom.max_bytes')).toBe(2_000_000);
    expect(inForce.get('auth.jwt.secret')).toBe('00123');
    expect(inForce.get('scheduler.attempt_lease')).toBe(77_000);
    expect(warnings.filter((warning) => /unknown/i.test(warning))).toEqual([]);
    const service = named(manifests, 'Service', 'demo-svc-agents');
    expect(service['spec'].ports[0].port).toBe(7654);
  });

  it('tells agents where the control plane is and what its certificate is signed by', async () => {
    const manifests = await render(BUNDLED);
    expect(configOf(manifests).config.executor).toMatchObject({
      taskNamespace: 'flows-tasks',
      agentControlPlaneAddr: 'demo-svc-agents.flows.svc:9091',
      agentTlsCaConfigmap: 'demo-svc-agent-ca',
      taskServiceAccount: 'demo-svc-task',
    });
    const ca = named(manifests, 'ConfigMap', 'demo-svc-agent-ca');
    expect(ca.metadata.namespace).toBe('flows-tasks');
    expect(variablesOf(named(manifests, 'Secret', 'demo-svc-agent-tls'))['ca.crt']?.trim()).toBe(ca['data']['ca.crt'].trim()); // prettier-ignore
  });

  it('makes up keys that nobody gave, and none when there is a Secret of the operator', async () => {
    const made = variablesOf(named(await render(BUNDLED), 'Secret', 'demo-svc'));
    expect(Object.keys(made).sort()).toEqual([
      'SVC_AUTH_BOOTSTRAP_PASSWORD',
      'SVC_AUTH_JWT_SECRET',
      'SVC_DATABASE_URL',
      'SVC_SECRET_KEY',
    ]);
    expect(Buffer.from(made['SVC_SECRET_KEY'] ?? '', 'base64').length).toBe(32);
    expect(made['SVC_AUTH_JWT_SECRET']?.length).toBeGreaterThanOrEqual(32);
    const manifests = await render({ existingSecret: 'mine' });
    expect(variablesOf(named(manifests, 'Secret', 'demo-svc'))).toEqual({});
    const [container] = named(manifests, 'Deployment', 'demo-svc')['spec'].template.spec.containers;
    expect(container.envFrom).toEqual([{ secretRef: { name: 'demo-svc' } }, { secretRef: { name: 'mine' } }]);
  });

  it('TLS of the HTTP listener is mounted where the configuration says, and probes speak it', async () => {
    const manifests = await render({ ...SPLIT, httpTls: { existingSecret: 'web-tls' } });
    for (const role of ['api', 'scheduler']) {
      const { containers, volumes } = named(manifests, 'Deployment', `demo-svc-${role}`)['spec'].template.spec;
      const [{ readinessProbe, livenessProbe, startupProbe, volumeMounts }] = containers;
      for (const probe of [readinessProbe, livenessProbe, startupProbe]) expect(probe.httpGet.scheme).toBe('HTTPS');
      expect(volumes).toContainEqual(
        expect.objectContaining({ secret: expect.objectContaining({ secretName: 'web-tls' }) }),
      );
      expect(volumeMounts).toContainEqual({ name: 'http-tls', mountPath: '/etc/svc/http-tls', readOnly: true });
    }
    const config = named(manifests, 'ConfigMap', 'demo-svc-config')['data']['server.yaml'] as string;
    expect(config).toContain('cert: /etc/svc/http-tls/tls.crt');
  });

  it('roles log in as users of their own, whom a job of the owner has granted what they need', async () => {
    const databaseIdentities = {
      api: { user: 'svc_api', existingSecret: 'api-database' },
      scheduler: { user: 'svc_scheduler', existingSecret: 'scheduler-database' },
    };
    const manifests = await render({ ...SPLIT, databaseIdentities });
    for (const role of ['api', 'scheduler']) {
      const [{ env }] = named(manifests, 'Deployment', `demo-svc-${role}`)['spec'].template.spec.containers;
      const valueFrom = { secretKeyRef: { name: `${role}-database`, key: 'SVC_DATABASE_URL' } };
      expect(env).toContainEqual({ name: 'SVC_DATABASE_URL', valueFrom });
      expect(env).toContainEqual({ name: 'SVC_DATABASE_MIGRATE', value: 'never' });
    }
    const job = named(manifests, 'Job', 'demo-svc-migration-install');
    expect(job.metadata.annotations).toBe(undefined); // no hook: helm --wait would wait for pods that wait for it
    const { initContainers, containers } = job['spec'].template.spec;
    expect([...initContainers, ...containers].map(({ args }: Manifest) => args)).toEqual([
      ['db', 'migrate'],
      ['db', 'grant', '--role', 'api', 'svc_api'],
      ['db', 'grant', '--role', 'scheduler', 'svc_scheduler'],
    ]);
    expect(JSON.stringify([initContainers, containers])).not.toContain('api-database');
    await expect(render({ ...SPLIT, databaseIdentities: { api: { user: 'svc_api' } } })).rejects.toThrow(
      /belong together/,
    );
    await expect(render({ ...BUNDLED, databaseIdentities })).rejects.toThrow(/for mode split/);
  });

  it('takes the URL of Redis from a Secret and its authority from a config map, in every role', async () => {
    const redis = { existingSecret: 'store', existingSecretKey: 'address', caConfigMap: 'store-ca', caKey: 'root.pem' };
    const manifests = await render({ ...SPLIT, redis });
    expect(configOf(manifests).config.redis.caFile).toBe('/etc/svc/redis-ca/root.pem');
    for (const role of ['api', 'scheduler']) {
      const { containers, volumes } = named(manifests, 'Deployment', `demo-svc-${role}`)['spec'].template.spec;
      const valueFrom = { secretKeyRef: { name: 'store', key: 'address' } };
      expect(containers[0].env).toContainEqual({ name: 'SVC_REDIS_URL', valueFrom });
      expect(containers[0].volumeMounts).toContainEqual({ name: 'redis-ca', mountPath: '/etc/svc/redis-ca', readOnly: true }); // prettier-ignore
      expect(volumes).toContainEqual({ name: 'redis-ca', configMap: { name: 'store-ca' } });
    }
    const without = JSON.stringify(await render(SPLIT));
    expect(without).not.toContain('redis');
  });

  it('a namespace of tasks that is there already is not made', async () => {
    const manifests = await render({ ...BUNDLED, tasks: { namespace: 'there', createNamespace: false } });
    expect(ofKind(manifests, 'Namespace')).toEqual([]);
    expect(named(manifests, 'Role', 'demo-svc-executor').metadata.namespace).toBe('there');
    expect(configOf(manifests).config.executor.taskNamespace).toBe('there');
  });
});

describe('monitoring', () => {
  it('the dashboard asks for metrics that the server has', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.watchDatabasePool(() => ({ idle: 0, busy: 0, waiting: 0 }));
    metrics.watchScheduler(() => undefined);
    const exposition = await metrics.exposition();
    const text = readFileSync(join(CHART, 'dashboards/svc.json'), 'utf8');
    const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
    const asked = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => [...expr.matchAll(/([a-z_0-9]+)\{/g)].map(([, name = '']) => name)),
    );
    expect(asked.length).toBeGreaterThanOrEqual(panels.length);
    const missing = asked.filter((name) => !exposition.includes(`# TYPE ${name.replace(/_bucket$/, '')} `));
    expect(missing).toEqual([]);
    const manifests = await render({ ...BUNDLED, metrics: { dashboard: { enabled: true } } });
    expect(JSON.parse(named(manifests, 'ConfigMap', 'demo-svc-dashboard')['data']['svc.json'])).toEqual(JSON.parse(text)); // prettier-ignore
  });

  it('the monitor finds the service that has an address for each pod', async () => {
    const manifests = await render({ ...SPLIT, metrics: { serviceMonitor: { enabled: true } } });
    const wanted = Object.entries(named(manifests, 'ServiceMonitor', 'demo-svc')['spec'].selector.matchLabels);
    const found = ofKind(manifests, 'Service').filter(({ metadata }) =>
      wanted.every(([label, value]) => metadata.labels[label] === value),
    );
    expect(found.map(({ metadata }) => metadata.name)).toEqual(['demo-svc-metrics']);
    for (const { spec } of ofKind(manifests, 'Deployment')) {
      expect(spec.template.metadata.labels).toMatchObject(found[0]?.['spec'].selector);
    }
  });
});
