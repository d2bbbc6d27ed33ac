/** Attempts nobody hears of any more. Agents that die are noticed at once by their executor; this is for when it died too. */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { AttemptRef, Failure } from '../attempts.ts';

/** Twelve missed heartbeats of five seconds: an agent that reconnects after a minute's outage must still find its attempt. */
export const DEFAULT_LEASE_MS = 60_000;
const AT_ONCE = 200;

export async function findSilent(db: Database, leaseMs: number): Promise<{ ref: AttemptRef; failure: Failure }[]> {
  // Plan: index task_instances_active, as many rows as there is work in flight.
  const { rows } = await sql<AttemptRef & { state: string }>`
    select tenant_id as "tenantId", run, task_id as "taskId", map_index as "mapIndex", attempt_id as "attemptId", state
    from task_instances
    where state in ('queued', 'running', 'restarting', 'deferred') and state in ('queued', 'running')
      and coalesce(heartbeat_at, queued_at) < clock_timestamp() - make_interval(secs => ${leaseMs / 1_000})
      and attempt_id is not null
    limit ${AT_ONCE}`.execute(db.shared);
  return rows.map(({ state, ...ref }) => ({
    ref,
    failure: { cause: state === 'queued' ? 'never_started' : 'agent_lost' },
  }));
}
