/**
 * Why the tries of a run started later than their rules allowed. The planner decides no starts, so this is computed from
 * the times of the recording: a limit is named only for the time in which it was full. It is pure.
 *
 *   scheduled ─▶ [the limit is full] ─▶ queued ─▶ … ─▶ ended
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';

/** A try that took slots from `queuedAt` to its end. */
export type Attempt = {
  dagId: string;
  runId: string;
  taskId: string;
  mapIndex: number;
  tryNumber: number;
  scheduledAt: string | null;
  queuedAt: string | null;
  /** Null: it has not ended. */
  endedAt: string | null;
  pool: string;
  slots: number;
};

export type Wait = {
  task_id: string;
  map_index: number;
  try_number: number;
  /** From when it was ready until it was queued. */
  from: string;
  to: string;
  /** The limits that were full. Empty: the recording names none. */
  limits: FullLimit[];
};

export type FullLimit = {
  /** Such as `pool narrow`. */
  limit: string;
  size: number;
  from: string;
  to: string;
  /** Names of some tries that held it. */
  held_by: string[];
};

export type Occupied = { run: readonly Attempt[]; others: readonly Attempt[]; poolSlots: ReadonlyMap<string, number> };

/** A quiet control plane needs milliseconds. */
const LEAST_WAIT_MS = 1_000;
const NAMED = 3;

const ms = Date.parse;

export function lateStarts(attempts: readonly Attempt[]): (Attempt & { scheduledAt: string; queuedAt: string })[] {
  return attempts.flatMap((one) => {
    const { scheduledAt, queuedAt } = one;
    if (scheduledAt === null || queuedAt === null || ms(queuedAt) - ms(scheduledAt) < LEAST_WAIT_MS) return [];
    return [{ ...one, scheduledAt, queuedAt }];
  });
}

export function waitsOfRun(spec: CompiledSpec, occupied: Occupied): Wait[] {
  const waits = lateStarts(occupied.run).map((late): Wait => {
    const limits = limitsOf(spec, late, occupied).flatMap((limit) => fullDuring(late, limit));
    const { taskId, mapIndex, tryNumber, scheduledAt, queuedAt } = late;
    return { task_id: taskId, map_index: mapIndex, try_number: tryNumber, from: scheduledAt, to: queuedAt, limits };
  });
  return waits.toSorted((one, other) => ms(one.from) - ms(other.from));
}

type Limit = {
  name: string;
  size: number;
  needs: number;
  holders: readonly Attempt[];
  slotsOf: (one: Attempt) => number;
};

const oneEach = (): number => 1;

function limitsOf(spec: CompiledSpec, late: Attempt, { run, others, poolSlots }: Occupied): Limit[] {
  const policy = spec.tasks.find(({ task_id: id }) => id === late.taskId)?.policy;
  const all = [...run, ...others];
  const ofTask = ({ dagId, taskId }: Attempt): boolean => dagId === late.dagId && taskId === late.taskId;
  const counted = { needs: 1, slotsOf: oneEach };
  const pool = poolSlots.get(late.pool);
  const limits: (Limit | null)[] = [
    { ...counted, name: 'max_active_tasks', size: spec.dag.max_active_tasks, holders: run },
    sized(policy?.max_active_tis_per_dagrun, (size) => ({
      ...counted,
      name: 'max_active_tis_per_dagrun',
      size,
      holders: run.filter(ofTask),
    })),
    sized(policy?.max_active_tis_per_dag, (size) => ({
      ...counted,
      name: 'max_active_tis_per_dag',
      size,
      holders: all.filter(ofTask),
    })),
    sized(pool, (size) => ({
      name: `pool ${late.pool}`,
      size,
      needs: late.slots,
      holders: all.filter((one) => one.pool === late.pool),
      slotsOf: ({ slots }: Attempt) => slots,
    })),
  ];
  return limits.filter((limit) => limit !== null);
}

const sized = (size: number | null | undefined, make: (size: number) => Limit): Limit | null =>
  size === null || size === undefined || size < 0 ? null : make(size);

/** The time within the wait in which the limit had no room for the try. */
function fullDuring(
  late: { scheduledAt: string; queuedAt: string } & Attempt,
  { name, size, needs, holders, slotsOf }: Limit,
): FullLimit[] {
  const overlapping = holders.filter(
    (one) =>
      !isSame(one, late) &&
      one.queuedAt !== null &&
      ms(one.queuedAt) < ms(late.queuedAt) &&
      (one.endedAt === null || ms(one.endedAt) > ms(late.scheduledAt)),
  );
  const moments = [
    ...new Set([
      late.scheduledAt,
      late.queuedAt,
      ...overlapping.flatMap((one) => [one.queuedAt ?? '', one.endedAt ?? '']),
    ]),
  ]
    .filter((at) => at !== '' && ms(at) >= ms(late.scheduledAt) && ms(at) <= ms(late.queuedAt))
    .toSorted((one, other) => ms(one) - ms(other));
  const full = moments.slice(0, -1).flatMap((from, index) => {
    const held = overlapping.filter((one) => isHeldAt(one, from));
    const isFull = held.reduce((sum, one) => sum + slotsOf(one), 0) + needs > size;
    return isFull ? [{ from, to: moments[index + 1] ?? from, held }] : [];
  });
  const [first] = full;
  const last = full.at(-1);
  if (!first || !last || full.every(({ from, to }) => ms(from) === ms(to))) return [];
  const names = [...new Set(full.flatMap(({ held }) => held.map((one) => holderName(one, late))))];
  return [{ limit: name, size, from: first.from, to: last.to, held_by: names.slice(0, NAMED) }];
}

const isSame = (one: Attempt, other: Attempt): boolean =>
  one.dagId === other.dagId &&
  one.runId === other.runId &&
  one.taskId === other.taskId &&
  one.mapIndex === other.mapIndex &&
  one.tryNumber === other.tryNumber;

const isHeldAt = ({ queuedAt, endedAt }: Attempt, at: string): boolean =>
  queuedAt !== null && ms(queuedAt) <= ms(at) && (endedAt === null || ms(endedAt) > ms(at));

function holderName({ dagId, runId, taskId, mapIndex }: Attempt, late: Attempt): string {
  const name = mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;
  if (dagId !== late.dagId) return `${name} of ${dagId}`;
  return runId === late.runId ? name : `${name} of ${runId}`;
}
