/**
 * Callbacks that no task process can call any more: those of runs, and of tasks that were lost. They are claimed like
 * tasks, so two schedulers never call one twice. When an agent dies during a callback, the callback counts as called.
 */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { AllTables, TenantTables } from '../../db/schema.ts';

/**
 * A request with the version of its run, which defines the callback. For a question it is the version of the question.
 */
export type CallbackJob = Selectable<TenantTables['callback_requests']> & { versionNumber: number };

const CLAIMED_AT_ONCE = 50;

export async function requestCallback(
  trx: SharedDb,
  request: Insertable<AllTables['callback_requests']>,
): Promise<void> {
  await trx.insertInto('callback_requests').values(request).execute();
}

/** `callback_requests.which` of a question about an author's own reference of a deadline, before its position. */
export const REFERENCE_OF = 'reference:';

/** `callback_requests.which` of a call of listeners, before the name of the hook. */
const LISTEN = 'listen:';

/**
 * Returns false when a worker reported in the last hour that no plugin listens. A plugin may be installed but not
 * configured.
 */
export async function requestListeners(
  trx: SharedDb,
  call: { tenantId: string; run: number; dagId: string; hook: string; message: string },
): Promise<boolean> {
  // Two calls of one transaction must have an order, hence the clock.
  const { numAffectedRows } = await sql`
    insert into callback_requests (tenant_id, run, dag_id, which, reason, created_at)
    select tenant_id, ${call.run}, dag_id, ${LISTEN + call.hook}, ${call.message}, clock_timestamp() from dags
    where tenant_id = ${call.tenantId} and dag_id = ${call.dagId}
      and coalesce((plugins ->> 'unheard_at')::timestamptz < now() - interval '1 hour', true)`.execute(trx);
  return (numAffectedRows ?? 0n) > 0n;
}

export async function claimCallbacks(db: Database): Promise<CallbackJob[]> {
  const { rows } = await sql<CallbackJob>`
    with next as (
      select tenant_id, id, run from callback_requests q where state = 'queued'
        -- Listeners hear of a run in its order.
        and not (which like ${`${LISTEN}%`} and exists (
          select from callback_requests e
          where e.tenant_id = q.tenant_id and e.run = q.run and e.which like ${`${LISTEN}%`}
            and e.state in ('queued', 'running') and e.created_at < q.created_at))
      order by created_at limit ${CLAIMED_AT_ONCE} for update skip locked
    )
    update callback_requests c set state = 'running', attempt_id = gen_random_uuid(), started_at = clock_timestamp()
    from next n left join dag_runs r on r.tenant_id = n.tenant_id and r.id = n.run
    where c.tenant_id = n.tenant_id and c.id = n.id
    returning c.*, coalesce(r.version_number, c.version_number) as "versionNumber"`.execute(db.shared);
  return rows;
}

/**
 * Deletes old requests. Listeners are called at least once: a call with an unknown result is requested again, for an
 * hour after the first request.
 */
export async function deleteOldCallbacks(db: Database): Promise<void> {
  await sql`
    with lost as (
      update callback_requests set state = 'failed'
      where state = 'running' and which like ${`${LISTEN}%`} and started_at < now() - interval '5 minutes'
      returning tenant_id, run, dag_id, which, reason, created_at)
    insert into callback_requests (tenant_id, run, dag_id, which, reason, created_at)
    select tenant_id, run, dag_id, which, reason, created_at from lost
    where created_at > now() - interval '1 hour'`.execute(db.shared);
  await sql`
    delete from callback_requests
    where created_at < now() - interval '1 day' and state in ('done', 'failed')`.execute(db.shared);
  await sql`
    update callback_requests set state = 'failed'
    where state = 'running' and started_at < now() - interval '1 hour'`.execute(db.shared);
}
