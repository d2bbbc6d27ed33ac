/**
 * The chaos of runs: tasks run under two control planes on one Postgres while processes are killed, the database is
 * restarted and answers get lost. Then the faults stop, everything has to end, and what is left is looked at.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryDatabase } from '../postgres/query-database.ts';
import { createRandom } from './random.ts';
import { checkEvidence } from './runs-checks.ts';
import { createTriggerClient } from './runs-client.ts';
import type { TriggerClient } from './runs-client.ts';
import { INSTANCES } from './runs-dags.ts';
import { gatherEvidence } from './runs-evidence.ts';
import type { Evidence } from './runs-evidence.ts';
import { tormentRuns } from './runs-faults.ts';
import type { FaultCounts, RunFault } from './runs-faults.ts';
import { createLogWatch } from './runs-logs.ts';
import type { LogWatch } from './runs-logs.ts';
import { buildPlant } from './runs-plant.ts';
import type { Plant, PlantOptions } from './runs-plant.ts';
import { findVictims } from './runs-processes.ts';

export type RunChaosOptions = PlantOptions & {
  seed: number;
  /** Of faults. What was triggered by then must end afterwards. */
  seconds: number;
  /** The faults go on until so many runs were accepted, however slow the machine is. */
  leastRuns: number;
  /** Runs that may be under way before more are triggered. */
  liveRuns: number;
  /** How long a server or Postgres stays away at most. */
  longestFaultMs: number;
  /** Faults of these kinds only, each at least as often as it is named. */
  faults?: readonly RunFault[];
  log?: (message: string) => void;
};

export type RunChaosReport = {
  seed: number;
  faults: FaultCounts;
  runs: number;
  /** Bodies that began, as the effect file says. */
  attempts: number;
  /** Of those, bodies that did not live to their end. */
  cutShort: number;
  walkedAway: number;
  logLinesSeen: number;
  /** From the end of the faults until every run had ended. */
  endedAfterMs: number;
  violations: string[];
};

const MAX_VIOLATIONS = 50;
/** Each look is a connection of its own, which costs 10 ms of processor time. */
const LOOK_EVERY_MS = 250;
const LEAVING_MS = 120_000;

export async function runChaosOfRuns(options: RunChaosOptions): Promise<RunChaosReport> {
  const plant = await buildPlant(options);
  try {
    return await torment(plant, options);
  } finally {
    await plant.remove();
  }
}

async function torment(plant: Plant, options: RunChaosOptions): Promise<RunChaosReport> {
  const { seed, seconds, log } = options;
  const violations: string[] = [];
  const onViolation = (message: string): void => void violations.push(message);
  const client = createTriggerClient({
    dagIds: Object.keys(INSTANCES),
    controlPlanes: plant.doors,
    token: plant.token,
    random: createRandom(seed + 1),
    onViolation,
  });
  const logs = createLogWatch(plant, createRandom(seed + 2));
  const until = Date.now() + seconds * 1_000;
  let isTormented = true;
  const going = (): boolean => isTormented;
  const [faults] = await Promise.all([
    tormentRuns(plant, {
      random: createRandom(seed),
      goesOn: () => Date.now() < until || client.accepted.length < options.leastRuns,
      longestMs: options.longestFaultMs,
      only: options.faults,
      ...(log && { log }),
    }).finally(() => (isTormented = false)),
    triggerWhile(going, { plant, client, options }),
    watchWhile(going, logs),
  ]);
  const endedAfterMs = await untilAllEnded(plant, options, onViolation);
  const evidence = await gatherEvidence(plant);
  if (options.keep === true) await writeFile(join(plant.directory, 'evidence.json'), JSON.stringify(evidence));
  log?.(`all has ended; what is left: ${plant.directory}`);
  violations.push(...checkEvidence(evidence, client.accepted), ...(await logs.check(evidence)));
  for (const { ended } of plant.processes) {
    const how = ended();
    if (how !== null) onViolation(`a server ended by itself: ${how}`);
  }
  violations.push(...(await leftOver(plant, plant.controlPlanes.length)));
  violations.push(...(await plant.stop()), ...(await leftOver(plant, 0)));
  return {
    seed,
    faults,
    runs: evidence.runs.length,
    ...attemptsIn(evidence),
    walkedAway: client.walkedAway(),
    logLinesSeen: logs.linesSeen(),
    endedAfterMs,
    violations: violations.slice(0, MAX_VIOLATIONS),
  };
}

async function triggerWhile(
  going: () => boolean,
  { plant, client, options }: { plant: Plant; client: TriggerClient; options: RunChaosOptions },
): Promise<void> {
  while (going()) {
    const live = await countLive(plant).catch(() => undefined); // the database may be away
    const wanted = live === undefined ? 1 : options.liveRuns - live;
    for (let more = 0; more < wanted && going(); more += 1) await client.trigger();
    await sleep(LOOK_EVERY_MS);
  }
}

async function watchWhile(going: () => boolean, logs: LogWatch): Promise<void> {
  while (going()) {
    await logs.look().catch(() => {}); // the database may be away
    await sleep(LOOK_EVERY_MS);
  }
}

async function countLive({ databaseUrl }: Plant): Promise<number> {
  const [row] = await queryDatabase<{ live: number }>(
    databaseUrl,
    `select count(*)::int as live from dag_runs where state in ('queued', 'running')`,
  );
  return row?.live ?? 0;
}

async function untilAllEnded(
  plant: Plant,
  options: RunChaosOptions,
  onViolation: (message: string) => void,
): Promise<number> {
  const faultsEnded = Date.now();
  // What a dead process had claimed waits for its lease twice at worst: once claimed, once more after its return.
  const bound = options.leaseSeconds * 2_000 + 180_000;
  for (;;) {
    const live = await countLive(plant);
    const waited = Date.now() - faultsEnded;
    if (live === 0) return waited;
    if (waited > bound) {
      onViolation(`${live} runs have not ended ${bound} ms after the last fault`);
      return waited;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function attemptsIn({ effects }: Evidence): { attempts: number; cutShort: number } {
  const began = new Set(effects.filter(({ what }) => what === 'start').map(({ attempt }) => attempt));
  const ended = new Set(effects.filter(({ what }) => what === 'end').map(({ attempt }) => attempt));
  return { attempts: began.size, cutShort: [...began].filter((attempt) => !ended.has(attempt)).length };
}

/** Agents whose control plane was killed tell what they have to tell to its next life, and leave. */
async function leftOver({ controlPlanes }: Plant, allowed: number): Promise<string[]> {
  for (const deadline = Date.now() + LEAVING_MS; ; await sleep(100)) {
    const { agents } = await findVictims(controlPlanes.map(({ proxy }) => proxy.address));
    if (agents.length <= allowed) return [];
    if (Date.now() > deadline) return [`agents ${agents.join(', ')} are still there when all has ended`];
  }
}
