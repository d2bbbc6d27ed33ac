import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metadata, credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import { HOST_ADDRESS, core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { eventually } from '@svc/testing/eventually.ts';

/** A task that gives away everything it can lay its hands on. */
const DAG = `
import os, time
from airflow.sdk import dag, task

@dag(schedule=None)
def leaks():
    @task
    def tell():
        found = {}
        for folder, _, files in os.walk("/var/run/secrets"):
            for file in files:
                found[os.path.join(folder, file)] = open(os.path.join(folder, file)).read()
        return {"files": found, "names": sorted(os.environ)}

    @task
    def hold():
        print("it runs", flush=True)
        time.sleep(600)

    tell() >> hold()

leaks()
`;
const PATIENT = { withinMs: 240_000, everyMs: 200 };
const PORT = 19_091;

let namespace: TestNamespace;
let server: ClusterControlPlane;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  makeCertificate(folder);
  namespace = await createTestNamespace('credentials');
  const data = { 'ca.crt': readFileSync(join(folder, 'cert.pem'), 'utf8') };
  await core.createNamespacedConfigMap({ namespace: namespace.name, body: { metadata: { name: 'svc-ca' }, data } });
  server = await startClusterControlPlane(namespace.name, {
    'auth.agent_token_transport': 'exchange',
    'server.grpc_addr': `${HOST_ADDRESS}:${PORT}`,
    'server.grpc_tls.cert': join(folder, 'cert.pem'),
    'server.grpc_tls.key': join(folder, 'key.pem'),
    'executor.agent_tls_ca_configmap': 'svc-ca',
  });
  await server.addDag('leaks', DAG);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function makeCertificate(into: string): void {
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc -addext subjectAltName=IP:${HOST_ADDRESS}`;
  const files = ['-keyout', join(into, 'key.pem'), '-out', join(into, 'cert.pem')];
  execFileSync('openssl', [...request.split(' '), ...files], { stdio: 'ignore' });
}

/** The name of the status, and the credential when there is one. */
function exchange(token: string): Promise<{ code: string; details: string }> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const ca = readFileSync(join(folder, 'cert.pem'));
  const client = new Agent(`${HOST_ADDRESS}:${PORT}`, credentials.createSsl(ca));
  return new Promise((resolve) => {
    client.Exchange({}, metadata, (error) => {
      client.close();
      resolve(error ? { code: status[error.code], details: error.details } : { code: 'OK', details: '' });
    });
  });
}

const tokenOf = async (body: { audiences: string[] }): Promise<string> => {
  const spec = { audiences: body.audiences, expirationSeconds: 600 };
  const request = { name: 'default', namespace: namespace.name, body: { spec } };
  return (await core.createNamespacedServiceAccountToken(request)).status?.token ?? '';
};

describe('an attempt whose credential is exchanged, over TLS', () => {
  let files: Record<string, string>;

  it('runs with a token of its own pod and none of the cluster, and sees neither ours nor the API server’s', async () => {
    const runId = await server.trigger('leaks');
    await eventually(async () => (await server.log('leaks', runId, 'hold')).includes('it runs'), PATIENT);
    const path = `/dags/leaks/dagRuns/${encodeURIComponent(runId)}/taskInstances/tell/xcomEntries/return_value?deserialize=true`;
    const { value } = await server.api<{ value: { files: Record<string, string>; names: string[] } }>('GET', path);
    files = value.files;
    expect(Object.keys(files).filter((file) => file.includes('kubernetes.io'))).toEqual([]);
    expect(value.names.filter((name) => name.startsWith('SVC_AGENT'))).toEqual([]);
    const pods = await core.listNamespacedPod({ namespace: namespace.name });
    const env = pods.items.flatMap(({ spec }) => spec?.containers[0]?.env ?? []).map(({ name }) => name);
    expect(env).not.toContain('SVC_AGENT_TOKEN');
    const audit = await server.api<{ event_logs: { event: string }[] }>('GET', '/eventLogs?event=agent_token_refused');
    expect(audit.event_logs).toEqual([]);
  });

  it('has used its token up: whoever steals it gets nothing', async () => {
    const token = Object.entries(files).find(([file]) => file.endsWith('/token'))?.[1] ?? '';
    expect(token).not.toBe('');
    const { code, details } = await exchange(token.trim());
    // Its pod has ended and may be gone by now.
    expect(code).toMatch(/^(PERMISSION_DENIED|UNAUTHENTICATED)$/);
    expect(details).toMatch(/is over|begun already|exchanged before|refuses the token|is gone/);
  });

  it('cannot be had with any other token', async () => {
    expect((await exchange(await tokenOf({ audiences: ['svc-agent'] }))).code).toBe('UNAUTHENTICATED');
    expect((await exchange(await tokenOf({ audiences: ['https://kubernetes.default.svc'] }))).code).toBe(
      'UNAUTHENTICATED',
    );
    const forged = `x.${Buffer.from(JSON.stringify({ aud: ['svc-agent'], 'kubernetes.io': { namespace: namespace.name, pod: { name: 'svc-x' } } })).toString('base64url')}.x`;
    for (const token of ['nonsense', forged, 'x'.repeat(20_000)]) {
      expect((await exchange(token)).code).toBe('UNAUTHENTICATED');
    }
  });
});

describe('a control plane that is killed', () => {
  it('finds its running pods again, and what they did meanwhile is recorded once', async () => {
    await server.addDag(
      'lasting',
      `
import time
from airflow.sdk import dag, task

@dag(schedule=None)
def lasting():
    @task
    def works():
        print("begun", flush=True)
        time.sleep(15)
        print("done", flush=True)
        return 1
    works()

lasting()
`,
    );
    const runId = await server.trigger('lasting');
    await eventually(async () => (await server.log('lasting', runId, 'works')).includes('begun'), PATIENT);
    await server.restart({ awayMs: 20_000 });
    expect((await server.ended('lasting', runId, 250)).state).toBe('success');
    const log = await server.log('lasting', runId, 'works');
    expect(log.match(/begun/g)).toHaveLength(1);
    expect(log).toContain('done');
    await eventually(async () => {
      const { items } = await core.listNamespacedPod({
        namespace: namespace.name,
        labelSelector: 'svc.dev/dag=lasting',
      });
      expect(items).toEqual([]);
    }, PATIENT);
  });
});
