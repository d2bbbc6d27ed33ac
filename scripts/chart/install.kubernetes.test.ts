import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import { helm } from './helm.ts';
import { addDag, forwardTo, installRelease, kubectl, logIn, trigger, untilEnded } from './release.ts';

const NAME = 'svc';
const VALUES = {
  mode: 'split',
  logs: { persistence: { accessMode: 'ReadWriteMany', size: '64Mi' } },
  config: { auth: { bootstrap: { email: 'admin@example.com' }, agent_token_transport: 'exchange' } },
};

const DAGS = {
  quick: `
from airflow.sdk import dag, task

@dag(schedule=None)
def quick():
    @task
    def hello():
        print("hello from a pod")
        return 7

    @task
    def follow(value):
        print("got", value)

    follow(hello())

quick()
`,
  waits: `
import os, time
from airflow.sdk import dag, task

@dag(schedule=None)
def waits():
    @task
    def hold():
        print("waiting", flush=True)
        while not os.path.exists("/tmp/go"):
            time.sleep(0.2)
        return "went on"

    @task
    def follow(value):
        print("it", value)

    follow(hold())

waits()
`,
};

let namespace: TestNamespace;
let release: { name: string; namespace: string };
let tasks: string;
let notes: string;
beforeAll(async () => {
  namespace = await createTestNamespace('chart');
  release = { name: NAME, namespace: namespace.name };
  tasks = `${namespace.name}-tasks`;
  // The strictest that the cluster itself enforces.
  await kubectl('label', 'namespace', namespace.name, 'pod-security.kubernetes.io/enforce=restricted');
  notes = await installRelease('install', { ...release, change: VALUES });
}, 900_000);
afterAll(async () => {
  await helm(['uninstall', NAME, '--namespace', namespace.name, '--ignore-not-found']);
  await namespace[Symbol.asyncDispose]();
});

const mayDo = async (role: string, verb: string, what: string, where: string, ...more: string[]): Promise<string> =>
  kubectl(
    'auth',
    'can-i',
    verb,
    what,
    `--namespace=${where}`,
    `--as=system:serviceaccount:${namespace.name}:svc-${role}`,
    ...more,
  )
    .catch((error: { stdout?: string }) => error.stdout ?? '')
    .then((answer) => answer.trim());

const secretData = async (name: string) => (await core.readNamespacedSecret({ name, namespace: namespace.name })).data;

describe('an installed release', () => {
  it('tells what to do next', () => {
    expect(notes).toContain(`kubectl --namespace ${namespace.name} port-forward service/svc 8080:80`);
    expect(notes).toContain('SVC_AUTH_BOOTSTRAP_PASSWORD');
  });

  it('runs the tasks of a run in pods, and the API reads their logs', async () => {
    using forward = await forwardTo(namespace.name, NAME);
    const session = await logIn(forward.url, release);
    await addDag(session, 'quick', DAGS.quick);
    const runId = await trigger(session, 'quick');
    expect(await untilEnded(session, 'quick', runId)).toBe('success');
    const log = await session.text(`/dags/quick/dagRuns/${encodeURIComponent(runId)}/taskInstances/hello/logs/1`);
    expect(log).toContain('hello from a pod');
  });

  it('serves the web UI', async () => {
    using forward = await forwardTo(namespace.name, NAME);
    const page = await fetch(`${forward.url}/`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    const [script] = /\/static\/assets\/[^"']+\.js/.exec(await page.text()) ?? [];
    expect((await fetch(`${forward.url}${script}`)).status).toBe(200);
  });

  it('gives the scheduler what it needs in the namespace of tasks, and the API nothing', async () => {
    const verbs = ['create', 'delete', 'get', 'list', 'watch'];
    for (const verb of verbs) {
      expect([verb, await mayDo('scheduler', verb, 'pods', tasks), await mayDo('api', verb, 'pods', tasks)]).toEqual([
        verb,
        'yes',
        'no',
      ]);
    }
    const refused = [
      await mayDo('scheduler', 'get', 'secrets', tasks),
      await mayDo('scheduler', 'create', 'pods', tasks, '--subresource=exec'),
      await mayDo('scheduler', 'create', 'pods', namespace.name),
      await mayDo('api', 'create', 'tokenreviews.authentication.k8s.io', ''),
    ];
    expect(refused).toEqual(['no', 'no', 'no', 'no']);
    expect(await mayDo('scheduler', 'create', 'tokenreviews.authentication.k8s.io', '')).toBe('yes');
  });

  it('is upgraded while a task runs: the task goes on and its result is recorded; what was made up stays', async () => {
    const before = [await secretData('svc'), await secretData('svc-agent-tls'), await secretData('svc-postgres')];
    const { items: old } = await core.listNamespacedPod({ namespace: namespace.name });
    const oldPods = new Set(old.map(({ metadata }) => metadata?.uid));
    let runId = '';
    let podName = '';
    {
      using forward = await forwardTo(namespace.name, NAME);
      const session = await logIn(forward.url, release);
      await addDag(session, 'waits', DAGS.waits);
      runId = await trigger(session, 'waits');
      const path = `/dags/waits/dagRuns/${encodeURIComponent(runId)}/taskInstances/hold/logs/1`;
      await eventually(async () => (await session.text(path)).includes('waiting'), { withinMs: 240_000 });
      const { items } = await core.listNamespacedPod({ namespace: tasks });
      podName = items.find(({ metadata }) => metadata?.labels?.['svc.dev/dag'] === 'waits')?.metadata?.name ?? '';
    }
    const podAnnotations = { changed: 'yes' };
    await installRelease('upgrade', {
      ...release,
      change: { ...VALUES, api: { replicas: 1, podAnnotations }, scheduler: { replicas: 1, podAnnotations } },
    });
    expect([await secretData('svc'), await secretData('svc-agent-tls'), await secretData('svc-postgres')]).toEqual(
      before,
    );
    const roles = 'app.kubernetes.io/component in (api, scheduler)';
    await eventually(async () => {
      const { items } = await core.listNamespacedPod({ namespace: namespace.name, labelSelector: roles });
      expect(items.filter(({ metadata }) => oldPods.has(metadata?.uid))).toEqual([]);
    });

    await kubectl('exec', '--namespace', tasks, podName, '--', 'touch', '/tmp/go');
    using forward = await forwardTo(namespace.name, NAME);
    const session = await logIn(forward.url, release);
    expect(await untilEnded(session, 'waits', runId)).toBe('success');
    const path = `/dags/waits/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
    const { try_number: tries } = await session.api<{ try_number: number }>('GET', `${path}/hold`);
    expect(tries).toBe(1);
    expect(await session.text(`${path}/follow/logs/1`)).toContain('it went on');
  });

  it('is upgraded to a certificate for HTTP and a database user for each role, with which it runs', async () => {
    const sql = (...statements: string[]): Promise<string> =>
      kubectl('exec', '--namespace', namespace.name, 'svc-postgres-0', '--', 'psql', '--host=/var/run/postgresql', '--username=svc', '--quiet', '--tuples-only', '--no-align', ...statements.map((text) => `--command=${text}`), 'svc'); // prettier-ignore
    const databaseIdentities: Record<string, object> = {};
    for (const role of ['api', 'scheduler']) {
      const user = `svc_${role}`;
      await sql(`create role ${user} login password 'of-${role}'`);
      const url = `postgres://${user}:of-${role}@svc-postgres:5432/svc`;
      const existingSecret = `${role}-database`;
      await core.createNamespacedSecret({
        namespace: namespace.name,
        body: { metadata: { name: existingSecret }, stringData: { SVC_DATABASE_URL: url } },
      });
      databaseIdentities[role] = { user, existingSecret };
    }
    const folder = mkdtempSync(join(tmpdir(), 'svc-chart-tls-'));
    const authority = makeAuthority(folder);
    const { cert, key } = makeCertificate(folder, authority, { name: 'web' });
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority.cert, 'utf8')]);
    await kubectl(
      'create',
      'secret',
      'tls',
      'web-tls',
      '--namespace',
      namespace.name,
      `--cert=${cert}`,
      `--key=${key}`,
    );
    rmSync(folder, { recursive: true });

    const httpTls = { existingSecret: 'web-tls' };
    await installRelease('upgrade', { ...release, change: { ...VALUES, databaseIdentities, httpTls } });
    using forward = await forwardTo(namespace.name, NAME);
    const session = await logIn(forward.url.replace('http:', 'https:'), release);
    const runId = await trigger(session, 'quick');
    expect(await untilEnded(session, 'quick', runId)).toBe('success');
    const users = "select distinct usename from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by 1"; // prettier-ignore
    // The pods of before take their time to end.
    await eventually(async () => expect((await sql(users)).trim().split('\n')).toEqual(['svc_api', 'svc_scheduler']), {
      everyMs: 500,
      withinMs: 240_000,
    });
  }, 900_000);

  it('is uninstalled, and leaves the keys and the data alone', async () => {
    await helm(['uninstall', NAME, '--namespace', namespace.name, '--wait', '--timeout', '3m']);
    const kinds = 'deployments,statefulsets,pods,services,jobs,serviceaccounts,roles,rolebindings,configmaps,secrets,persistentvolumeclaims,networkpolicies,poddisruptionbudgets'; // prettier-ignore
    await eventually(
      async () => {
        const left = (await kubectl('get', kinds, '--namespace', namespace.name, '--output', 'name'))
          .trim()
          .split('\n');
        expect(left.filter((name) => !/kube-root-ca|serviceaccount\/default/.test(name)).sort()).toEqual([
          'persistentvolumeclaim/data-svc-postgres-0',
          'persistentvolumeclaim/svc-logs',
          'secret/api-database', // these are the operator's own
          'secret/scheduler-database',
          'secret/svc',
          'secret/svc-postgres',
          'secret/web-tls',
        ]);
      },
      { everyMs: 500, withinMs: 240_000 },
    );
    const gone = await kubectl('get', 'namespace', tasks, '--ignore-not-found', '--output', 'name');
    expect(gone).toBe('');
    expect(await kubectl('get', 'clusterroles,clusterrolebindings', '--output', 'name')).not.toContain(namespace.name);
  });
});
