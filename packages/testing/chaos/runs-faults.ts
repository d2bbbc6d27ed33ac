/** What befalls a plant: every kind of process is killed, the database goes away, answers and words get lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { queryDatabase } from '../postgres/query-database.ts';
import type { Random } from './random.ts';
import type { Plant } from './runs-plant.ts';
import { findVictims, killProcess } from './runs-processes.ts';
import type { Victims } from './runs-processes.ts';

export const RUN_FAULTS = [
  'kill server',
  'kill agent',
  'kill fork server',
  'kill task',
  'restart postgres',
  'kill postgres',
  'kill backends',
  'pause postgres',
  'drop answers',
  'lose notifications',
  'repeat notifications',
] as const;
export type RunFault = (typeof RUN_FAULTS)[number];

/** Tasks die more often than databases: otherwise the plant is down most of the time, and little happens to be disturbed. */
const WEIGHTED: readonly RunFault[] = [
  ...RUN_FAULTS,
  'kill task',
  'kill task',
  'kill fork server',
  'kill agent',
  'drop answers',
  'drop answers',
];

export type FaultCounts = Record<RunFault, number>;

export async function tormentRuns(
  plant: Plant,
  options: {
    random: Random;
    /** Faults of every wanted kind come first; after that, while this says so. */
    goesOn: () => boolean;
    longestMs: number;
    /** In an order of their own, each once; and then nothing else but these. */
    only?: readonly RunFault[] | undefined;
    log?: (message: string) => void;
  },
): Promise<FaultCounts> {
  const { random, goesOn, longestMs, only, log } = options;
  const counts = Object.fromEntries(RUN_FAULTS.map((fault) => [fault, 0])) as FaultCounts;
  // Each kind once in the first round, so that a short run meets them all; in an order of its own.
  const first = shuffled(only ?? RUN_FAULTS, random);
  const isWhole = (): boolean => only === undefined || first.length === 0;
  while (goesOn() || !isWhole()) {
    await sleep(200 + random.below(1_000));
    const fault = first.pop() ?? random.pick(only ?? WEIGHTED);
    const lastsMs = random.below(longestMs);
    log?.(`${fault}, ${lastsMs} ms`);
    counts[fault] += await inflict(plant, fault, { random, lastsMs });
  }
  return counts;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(random.below(rest.length), 1));
}

/** How often it happened: there may be nobody to kill. */
async function inflict(
  plant: Plant,
  fault: RunFault,
  { random, lastsMs }: { random: Random; lastsMs: number },
): Promise<number> {
  const { cluster, controlPlanes, processes } = plant;
  switch (fault) {
    case 'kill server': {
      // In turn: each comes to it before one does again.
      const fewest = Math.min(...processes.map(({ kills }) => kills()));
      const victim = random.pick(processes.filter(({ kills }) => kills() === fewest));
      await victim.kill();
      await sleep(lastsMs);
      await victim.restart();
      return 1;
    }
    case 'kill agent':
    case 'kill fork server':
    case 'kill task':
      return killOne(plant, KINDS[fault], random);
    case 'restart postgres':
    case 'kill postgres':
      await cluster.stop(fault === 'kill postgres' ? 'kill' : 'fast');
      await sleep(lastsMs);
      await cluster.start();
      return 1;
    case 'pause postgres':
      cluster.pause();
      await sleep(lastsMs);
      cluster.resume();
      return 1;
    case 'kill backends':
      return endConnections(plant, 'svc');
    case 'lose notifications':
      return endConnections(plant, 'svc listen');
    case 'repeat notifications':
      return repeatNotifications(plant, 20);
    case 'drop answers':
      return (await random.pick(controlPlanes).proxy.dropAnswers(Math.min(lastsMs, 600))) > 0 ? 1 : 0;
  }
}

const KINDS = { 'kill agent': 'agents', 'kill fork server': 'forkServers', 'kill task': 'tasks' } as const;
const LOOKS = 20;

/** There may be nobody at this very moment. */
async function killOne({ controlPlanes }: Plant, kind: keyof Victims, random: Random): Promise<number> {
  for (let look = 0; look < LOOKS; look += 1) {
    const victims = (await findVictims(controlPlanes.map(({ proxy }) => proxy.address)))[kind];
    if (victims.length > 0 && killProcess(random.pick(victims))) return 1;
    await sleep(50);
  }
  return 0;
}

async function endConnections({ cluster }: Plant, name: string): Promise<number> {
  const { rows } = await cluster.asSuperuser((client) =>
    client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name]),
  );
  return rows.length > 0 ? 1 : 0;
}

async function repeatNotifications({ databaseUrl }: Plant, times: number): Promise<number> {
  await queryDatabase(
    databaseUrl,
    `select pg_notify('svc_wake', 'chaos-' || word) from generate_series(1, ${times}) as word`,
  );
  return 1;
}
