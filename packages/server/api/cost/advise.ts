/** What follows from the usage of the last runs of a DAG. Pure. */
import type { TaskUsage } from '../../db/work/read-usage.ts';

const MIB = 2 ** 20;
/** Fewer instances show too little. */
const FEW = 3;
/** A request this many times the peak wastes memory. A smaller difference is a margin. */
const OVER = 2;
const MARGIN = 1.25;
const SLOWER = 1.2;
/** Differences of short tasks are noise. */
const SHORT_SECONDS = 1;
const STEP_MIB = 64;

export type Requested = { cpu: string | null; memory: string | null };
export type Advice = { code: 'memory_over_requested' | 'memory_under_requested' | 'slower_version'; text: string };

/** Returns the tasks in the order of their ids. `requested`: of the current version, by task. */
export function advise(usage: readonly TaskUsage[], requested: ReadonlyMap<string, Requested>) {
  const byTask = Map.groupBy(usage, ({ task_id }) => task_id);
  return [...byTask].map(([taskId, versions]) => {
    const asked = requested.get(taskId) ?? { cpu: null, memory: null };
    const tries = versions.reduce((sum, { tries: own }) => sum + own, 0);
    const peak = Math.max(...versions.map(({ memory_max }) => memory_max));
    const newest = versions.at(-1);
    if (!newest) throw new Error('unreachable: a group has a row');
    return {
      task_id: taskId,
      tries,
      memory_max_bytes: peak,
      memory_p95_bytes: Math.max(...versions.map(({ memory_p95 }) => memory_p95)),
      cpus_p95: Math.max(...versions.map(({ cpus_p95 }) => cpus_p95)),
      seconds_median: newest.seconds_median,
      requested: asked,
      suitable: { cpu: suitableCpu(versions), memory: suitableMemory(peak) },
      advice: [...(tries < FEW ? [] : adviceOnMemory(asked, peak)), ...adviceOnVersions(taskId, versions)],
    };
  });
}

const suitableMemory = (peak: number): string =>
  `${Math.ceil((peak * MARGIN) / MIB / STEP_MIB) * STEP_MIB || STEP_MIB}Mi`;

const suitableCpu = (versions: readonly TaskUsage[]): string =>
  `${Math.max(100, Math.ceil(Math.max(...versions.map(({ cpus_p95 }) => cpus_p95)) * 10) * 100)}m`;

function adviceOnMemory({ memory }: Requested, peak: number): Advice[] {
  const bytes = memory === null ? undefined : bytesOf(memory);
  if (bytes === undefined) return [];
  const facts = `it requests ${memory} and peaks at ${Math.ceil(peak / MIB)} MiB`;
  if (bytes < peak)
    return [{ code: 'memory_under_requested', text: `${facts}: request ${suitableMemory(peak)}, or it may be killed` }];
  if (bytes < peak * OVER || bytes - peak < STEP_MIB * MIB) return [];
  return [{ code: 'memory_over_requested', text: `${facts}: ${suitableMemory(peak)} is enough` }];
}

/** The newest version against the one before it that has run. */
function adviceOnVersions(taskId: string, versions: readonly TaskUsage[]): Advice[] {
  const [before, newest] = versions.slice(-2);
  if (!before || !newest || before.tries < FEW || newest.tries < FEW) return [];
  const factor = newest.seconds_median / before.seconds_median;
  if (!(factor >= SLOWER) || newest.seconds_median < SHORT_SECONDS) return [];
  const percent = Math.round((factor - 1) * 100);
  const text = `version ${newest.version_number} is ${percent} % slower than ${before.version_number} in task ${taskId}`;
  return [{ code: 'slower_version', text }];
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Reads a quantity of Kubernetes. Undefined: it is none. */
export function bytesOf(quantity: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([KkMGT]i?)?$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  return number === '' || factor === undefined ? undefined : Number(number) * factor;
}
