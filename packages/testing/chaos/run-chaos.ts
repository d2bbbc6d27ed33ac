/**
 * The chaos run: clients write and read through two `svc server` processes while Postgres is restarted, killed, paused and
 * robbed of its backends. Afterwards nothing that was acknowledged may be missing, nobody may have seen anything but
 * success and 503, and no process may have ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { queryDatabase } from '../postgres/query-database.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { ScratchCluster } from '../postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { createChaosClient } from './client.ts';
import type { ChaosClient } from './client.ts';
import { createLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createRandom } from './random.ts';

const RESTARTS = ['fast', 'immediate', 'kill'] as const;
const FAULTS = [...RESTARTS, ...RESTARTS, 'terminate', 'pause'] as const; // mostly restarts
type Fault = (typeof FAULTS)[number];

export type ChaosReport = {
  seed: number;
  seconds: number;
  faults: Record<Fault, number>;
  /** How often each status was answered. */
  answers: Record<string, number>;
  acknowledgedWrites: number;
  /** Milliseconds from the end of the faults until every process answered reads and writes again. */
  recoveredAfterMs: number;
  /** Empty, or the run has failed. */
  violations: string[];
};

export type ChaosOptions = {
  seed: number;
  seconds: number;
  /** The clients go on, and the faults with them, until so many writes were acknowledged, however slow the machine is. */
  leastWrites: number;
  clients: number;
  /** How long Postgres stays down or paused at most; a second unless given. */
  longestFaultMs?: number;
  /** One outage of this length, half-way. */
  outageMs?: number;
  /** Postgres settings; the long run keeps fsync on. */
  settings?: Record<string, string>;
  log?: (message: string) => void;
};

const SERVERS = 2;
/** A server that has not come back by then never does. On a busy machine it takes many times as long as on an idle one. */
const RECOVERY_LIMIT_MS = 120_000;
/** A run that is broken complains thousands of times in the same words. */
const MAX_VIOLATIONS = 50;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const cluster = await startScratchCluster(options.settings);
  const servers: ServerProcess[] = [];
  try {
    const url = await cluster.createMigratedDatabase();
    const settings = { 'database.url': url, 'database.max_open_conns': '10' };
    for (let n = 0; n < SERVERS; n += 1) servers.push(await startServerProcess({ settings }));
    await Promise.all(servers.map((server) => server.untilReady()));
    return await tormentedBy(options, { cluster, servers, url });
  } finally {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await cluster.remove();
  }
}

async function tormentedBy(
  options: ChaosOptions,
  { cluster, servers, url }: { cluster: ScratchCluster; servers: readonly ServerProcess[]; url: string },
): Promise<ChaosReport> {
  const { seed, seconds } = options;
  const ledger = createLedger();
  const answers: Record<string, number> = {};
  const violations: string[] = [];
  const onViolation = (message: string): void => {
    if (violations.length < MAX_VIOLATIONS) violations.push(message);
  };
  const token = await logIn(servers);
  const clients = Array.from({ length: options.clients }, (_, n) =>
    createChaosClient({
      name: `c${n}`,
      token,
      servers: servers.map((server) => server.url),
      random: createRandom(seed + 1 + n),
      ledger,
      onAnswer: (status) => (answers[status] = (answers[status] ?? 0) + 1),
      onViolation,
    }),
  );

  const until = Date.now() + seconds * 1_000;
  const goesOn = (): boolean => Date.now() < until || countAcknowledged(ledger) < options.leastWrites;
  const [faults] = await Promise.all([
    tormentWhile(goesOn, { cluster, options, halfWay: until - seconds * 500 }),
    ...clients.map((client) => workWhile(goesOn, client)),
  ]);
  const recoveredAfterMs = await recovery(servers, token, onViolation);
  for (const server of servers) for (const client of clients) await client.verify(server.url);
  await checkAuditLog(url, ledger, onViolation);
  for (const server of servers) {
    if (server.exited() !== null) onViolation(`a server ended: ${server.logLines().slice(-5).join('\n')}`);
  }
  return {
    seed,
    seconds,
    faults,
    answers,
    acknowledgedWrites: countAcknowledged(ledger),
    recoveredAfterMs,
    violations,
  };
}

const countAcknowledged = (ledger: Ledger): number =>
  ledger.keys().reduce((sum, key) => sum + ledger.writes(key).certain, 0);

async function workWhile(goesOn: () => boolean, client: ChaosClient): Promise<void> {
  while (goesOn()) {
    await client.step();
    await sleep(5); // the load is to be steady, not to starve the processes it torments
  }
}

async function tormentWhile(
  goesOn: () => boolean,
  { cluster, options, halfWay }: { cluster: ScratchCluster; options: ChaosOptions; halfWay: number },
): Promise<Record<Fault, number>> {
  const { seed, longestFaultMs = 1_000, outageMs = 0, log } = options;
  const random = createRandom(seed);
  const faults = { fast: 0, immediate: 0, kill: 0, terminate: 0, pause: 0 };
  let outageIsDue = outageMs > 0;
  for (;;) {
    await sleep(1_000 + random.below(2_000));
    if (!goesOn()) return faults;
    const isOutage = outageIsDue && Date.now() >= halfWay;
    if (isOutage) outageIsDue = false;
    const fault = isOutage ? 'fast' : random.pick(FAULTS);
    const lastsMs = isOutage ? outageMs : random.below(longestFaultMs);
    log?.(`${fault}, ${lastsMs} ms`);
    await inflict(cluster, fault, lastsMs);
    faults[fault] += 1;
  }
}

async function inflict(cluster: ScratchCluster, fault: Fault, lastsMs: number): Promise<void> {
  switch (fault) {
    case 'terminate':
      await cluster.asSuperuser((client) =>
        client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc'"),
      );
      return;
    case 'pause':
      cluster.pause();
      await sleep(lastsMs);
      cluster.resume();
      return;
    case 'fast':
    case 'immediate':
    case 'kill':
      await cluster.stop(fault);
      await sleep(lastsMs);
      await cluster.start();
  }
}

async function recovery(
  servers: readonly ServerProcess[],
  token: string,
  onViolation: (message: string) => void,
): Promise<number> {
  const faultsEnded = Date.now();
  for (const { url } of servers) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ key: 'chaos.recovered', value: url });
    const works = async () =>
      (await fetch(`${url}/readyz`)).ok &&
      (await fetch(`${url}/api/v2/variables`, { method: 'POST', headers, body })).ok;
    while (!(await works().catch(() => false))) {
      if (Date.now() - faultsEnded > RECOVERY_LIMIT_MS) {
        onViolation(`${url} does not work ${RECOVERY_LIMIT_MS} ms after the last fault`);
        break;
      }
      await sleep(50);
    }
  }
  return Date.now() - faultsEnded;
}

/** A change and its audit entry are one transaction: as many entries as there were writes, no more and no less. */
async function checkAuditLog(url: string, ledger: Ledger, onViolation: (message: string) => void): Promise<void> {
  const rows = await queryDatabase<{ key: string; entries: number }>(
    url,
    'select object_id as key, count(*)::int as entries from audit_log group by object_id',
  );
  const entriesOf = new Map(rows.map((row) => [row.key, row.entries]));
  for (const key of ledger.keys()) {
    const { certain, possible } = ledger.writes(key);
    const entries = entriesOf.get(key) ?? 0;
    if (entries < certain || entries > possible) {
      onViolation(`${key} has ${entries} audit entries for ${certain} to ${possible} writes`);
    }
  }
}

async function logIn([server]: readonly ServerProcess[]): Promise<string> {
  const response = await fetch(`${server?.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
