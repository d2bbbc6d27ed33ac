/** The columns that a deferral changes in its instance. Pure. */
import { secondsAfter } from '@svc/spec/clock.ts';
import type { InstanceRow, TriggerRow } from '../../db/schema.ts';
import type { Deferral } from '../shared/attempts.ts';

export const timeoutOf = ({ timeoutSeconds }: Deferral, now: string): string | null =>
  timeoutSeconds === null ? null : secondsAfter(now, Math.max(0, timeoutSeconds));

export function deferredColumns(
  row: Pick<InstanceRow, 'first_poke_at' | 'start_date'>,
  deferral: Deferral,
  now: string,
): Pick<InstanceRow, 'state' | 'end_date' | 'waits' | 'due_at' | 'first_poke_at'> {
  const moments = [timeoutOf(deferral, now), deferral.firesAt ?? null].filter((moment) => moment !== null);
  return {
    state: 'deferred',
    end_date: null,
    waits: null,
    due_at: moments.sort()[0] ?? null,
    first_poke_at: row.first_poke_at ?? row.start_date ?? now,
  };
}

/** True when the moment of a time trigger comes before its timeout. */
export const isBeforeTimeout = ({
  fires_at: firesAt,
  timeout_at: timeoutAt,
}: Pick<TriggerRow, 'fires_at' | 'timeout_at'>) => firesAt !== null && (timeoutAt === null || firesAt <= timeoutAt);
