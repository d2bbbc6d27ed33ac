/**
 * What a try has used and what it has waited for, as `task_instances.usage` stores it. Pure.
 *
 * A try that was deferred or rescheduled has several attempts. Their usage is added up, except the memory, of which the
 * largest counts. A trigger of the database adds the waits that begin and end between attempts (migration 0049).
 */
import { readUsage } from '../../db/work/stored-usage.ts';
import type { StoredUsage } from '../../db/work/stored-usage.ts';
import { BYTES_OF_GIB } from '../../db/work/usage-columns.ts';
import type { InstanceRow } from '../../db/schema.ts';

/** What the processes of an attempt have used, as its agent reports it. */
export type ProcessUsage = {
  /** Seconds of processors. */
  cpu: number;
  /** Seconds that the process had the task. */
  run: number;
  /** The largest private memory, in bytes. */
  memory: number;
  /** Bytes read from and written to storage. Absent when the process was killed. */
  read?: number;
  written?: number;
};

/** Reasons for which a scheduled instance is held back. The rest of that time it waits for a slot. */
const HELD = new Set([
  'paused',
  'pool_missing',
  'max_active_tis_per_dag',
  'max_active_tis_per_dagrun',
  'max_active_tasks',
]);
/** Reasons of waits before the instance is scheduled or between its attempts. */
const OUTSIDE = new Set(['past', 'retry_delay', 'reschedule', 'trigger', 'answer']);

/** The usage of the try of this row, after an attempt of it has ended. `own`: absent for an attempt that was lost. */
export function usageAfter(row: InstanceRow, own: ProcessUsage | undefined): string | null {
  const before = readUsage(row.usage);
  // A resumed try has counted its first start, and its moments are now those of its last attempt.
  const waits = row.first_poke_at === null ? withStart(row, before.waits ?? {}) : before.waits;
  if (!own && !waits) return row.usage;
  const after: StoredUsage = { ...before, ...(own && added(before, own)), ...(waits && { waits }) };
  return JSON.stringify(after);
}

const added = (before: StoredUsage, own: ProcessUsage): StoredUsage => ({
  cpu: rounded((before.cpu ?? 0) + own.cpu),
  run: rounded((before.run ?? 0) + own.run),
  memory: Math.max(before.memory ?? 0, own.memory),
  gib: rounded((before.gib ?? 0) + (own.memory / BYTES_OF_GIB) * own.run),
  read: (before.read ?? 0) + (own.read ?? 0),
  written: (before.written ?? 0) + (own.written ?? 0),
});

function withStart(row: InstanceRow, known: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  if (row.scheduled_at === null || row.queued_at === null || row.start_date === null) return known;
  const [scheduled, queued, started] = [row.scheduled_at, row.queued_at, row.start_date].map((at) =>
    Date.parse(at),
  ) as [number, number, number];
  let slot = (queued - scheduled) / 1_000;
  let dispatched = (started - queued) / 1_000;
  for (const [reason, seconds] of Object.entries(known)) {
    if (HELD.has(reason)) slot -= seconds;
    else if (!OUTSIDE.has(reason)) dispatched -= seconds;
  }
  return {
    ...known,
    ...(slot > 0 && { slot: rounded(slot) }),
    ...(dispatched > 0 && { dispatched: rounded(dispatched) }),
  };
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
