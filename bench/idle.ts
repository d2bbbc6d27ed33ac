// Measures the cost of an idle control plane: its processor time and its transactions in Postgres, with pods and with
// warm pools. An API server without pods replaces a cluster, which would be most of the load on the machine.
//
//   npm run bench -- idle [--seconds 30 --runs 3]

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import type { BenchOptions } from './figure.ts';
import { rounded } from './figure.ts';

const PODS = { 'executor.type': 'orchestrator', 'executor.base_image_repository': 'registry.example.com/svc-base' };
const WARM = {
  'execution.warm_pools_enabled': 'true',
  'auth.agent_token_transport': 'exchange',
  'auth.secret_liveness_mode': 'enforce',
};
/** Time for work that happens once after the start. */
const SETTLES_MS = 8_000;

export async function run(options: BenchOptions): Promise<void> {
  const [seconds, runs] = [options.number('seconds', 30), options.number('runs', 3)];
  const folder = mkdtempSync(join(tmpdir(), 'svc-idle-'));
  const cluster = await startEmptyCluster(folder);
  process.env['KUBECONFIG'] = cluster.kubeconfig; // read by the servers
  try {
    for (const [name, settings] of Object.entries({ pods: PODS, 'warm pools': { ...PODS, ...WARM } })) {
      const server = await startLiveServer(settings);
      const print = (figure: string, value: number, unit: string): void =>
        options.print({ bench: 'idle', figure: `${name}: ${figure}`, value: rounded(value), unit, seconds });
      try {
        await sleep(SETTLES_MS);
        for (let time = 0; time < runs; time += 1) {
          options.say(`${name}, ${seconds} s`);
          const before = { cpu: cpuMs(server.pid), asked: await transactions(server.databaseUrl) };
          await sleep(seconds * 1_000);
          print('processor', (cpuMs(server.pid) - before.cpu) / seconds / 10, '% CPU');
          print('transactions', ((await transactions(server.databaseUrl)) - before.asked) / seconds, '/s');
        }
      } finally {
        await server.close();
      }
    }
  } finally {
    cluster.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Uses the scheduler's clock of every thread, because ticks of the system clock are too coarse for an idle process. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0);

/** Counts transactions, including this query. */
async function transactions(url: string): Promise<number> {
  const text = `select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = current_database()`;
  return (await queryDatabase<{ count: number }>(url, text))[0]?.count ?? 0;
}

async function startEmptyCluster(folder: string): Promise<{ kubeconfig: string; close(): void }> {
  const authority = makeAuthority(folder);
  const { cert, key } = makeCertificate(folder, authority, { name: 'api' });
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, ({ url = '' }, response) => {
    if (url.includes('watch=true')) response.writeHead(200).write('\n'); // a watch without events
    else response.end(JSON.stringify({ items: [], metadata: { resourceVersion: '1' } }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const name = 'empty';
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = join(folder, 'kubeconfig'); // JSON is valid YAML
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': name,
      contexts: [{ name, context: { cluster: name, user: name } }],
      clusters: [{ name, cluster: { server: address, 'certificate-authority': authority.cert } }],
      users: [{ name, user: { token: 'x' } }],
    }),
  );
  return {
    kubeconfig,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
