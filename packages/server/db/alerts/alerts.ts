/** Alerts: the outbox of messages, and the list of what was sent. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';

export type AlertRow = Selectable<TenantTables['alerts']>;

/** Takes the message that is due for the longest time. Until `held_until`, no other process takes it. */
export async function claimAlert(
  db: SharedDb,
  {
    holder,
    seconds,
    without,
  }: { holder: string; seconds: number; /** Tenants whose messages stay. */ without: readonly string[] },
): Promise<AlertRow | undefined> {
  const { rows } = await sql<AlertRow>`
    update alerts set holder = ${holder}, held_until = now() + make_interval(secs => ${seconds})
    where (tenant_id, id) in (
      select tenant_id, id from alerts
      where due_at <= now() and (held_until is null or held_until < now())
        and tenant_id <> all(${[...without]}::uuid[])
      order by due_at limit 1 for update skip locked
    ) returning *`.execute(db);
  return rows[0];
}

export type SentMessage = {
  kind: 'open' | 'update' | 'over';
  text: string;
  reference: string | null;
  /** Failures that the message counts. */
  failures: number;
  /** How long until the next update, if more failures came meanwhile. Null: the channel cannot change a message. */
  updateSeconds: number | null;
};

/** Records a sent message. If the alert ended or grew meanwhile, the next message is due. */
export async function noteSent(db: SharedDb, alert: AlertRow, sent: SentMessage): Promise<void> {
  const next = sql`case
    when ${sent.kind} = 'over' then null
    when status = 'over' then (select now() from alert_rules r
      where r.tenant_id = alerts.tenant_id and r.id = alerts.rule_id and 'recovered' = any(r.events))
    when failures > ${sent.failures} and acknowledged_at is null and ${sent.updateSeconds}::float8 is not null
      then now() + make_interval(secs => ${sent.updateSeconds}::float8) end`;
  await sql`
    update alerts set messages = messages + 1, sent_text = ${sent.text}, sent_at = now(), sent_failures = ${sent.failures},
      reference = coalesce(${sent.reference}, reference), tries = 0, last_error = null, held_until = null, holder = null,
      due_at = ${next}
    where tenant_id = ${alert.tenant_id} and id = ${alert.id} and holder = ${alert.holder}`.execute(db);
}

/** Null for `seconds`: it is given up. */
export async function noteNotSent(
  db: SharedDb,
  alert: AlertRow,
  { error, seconds }: { error: string; seconds: number | null },
): Promise<void> {
  await sql`
    update alerts set tries = tries + 1, last_error = ${error}, held_until = null, holder = null,
      due_at = now() + make_interval(secs => ${seconds}::float8)
    where tenant_id = ${alert.tenant_id} and id = ${alert.id} and holder = ${alert.holder}`.execute(db);
}

export type SourceRow = { dag_id: string; tasks: number; failures: number };

/** Returns the DAGs of an alert, the one with most failures first. */
export async function dagsOfAlert(db: TenantDb, alertId: string): Promise<SourceRow[]> {
  return db
    .selectFrom('alert_sources')
    .select(['dag_id', sql<number>`count(*)::int`.as('tasks'), sql<number>`sum(failures)::int`.as('failures')])
    .where('alert_id', '=', alertId)
    .groupBy('dag_id')
    .orderBy('failures', 'desc')
    .orderBy('dag_id')
    .execute();
}

const COLUMNS = [
  'a.id',
  'a.rule_id',
  'r.name as rule',
  'r.channel',
  'a.event',
  'a.cause',
  'a.detail',
  'a.status',
  'a.dag_id',
  'a.task_id',
  'a.failures',
  'a.opened_at',
  'a.last_at',
  'a.over_at',
  'a.acknowledged_at',
  'a.acknowledged_by',
  'a.messages',
  'a.sent_text',
  'a.sent_at',
  'a.due_at',
  'a.tries',
  'a.last_error',
] as const;

const selectAlerts = (db: TenantDb) =>
  db.selectFrom('alerts as a').innerJoin('alert_rules as r', 'r.id', 'a.rule_id').select(COLUMNS);

export type ListedAlert = Awaited<ReturnType<ReturnType<typeof selectAlerts>['execute']>>[number];

/** Returns the newest first. */
export async function listAlerts(
  db: TenantDb,
  query: { status?: 'open' | 'over' | undefined; limit: number; offset: number },
): Promise<{ alerts: ListedAlert[]; total: number }> {
  let page = selectAlerts(db);
  let counted = db.selectFrom('alerts').select((eb) => eb.fn.countAll<number>().as('total'));
  if (query.status !== undefined) {
    page = page.where('a.status', '=', query.status);
    counted = counted.where('status', '=', query.status);
  }
  const [alerts, count] = await Promise.all([
    page.orderBy('a.opened_at', 'desc').orderBy('a.id').limit(query.limit).offset(query.offset).execute(),
    counted.executeTakeFirstOrThrow(),
  ]);
  return { alerts, total: count.total };
}

export const findAlert = (db: TenantDb, id: string): Promise<ListedAlert | undefined> =>
  selectAlerts(db).where('a.id', '=', id).executeTakeFirst();

/** Sends no more updates. The message about the end still comes. */
export async function acknowledgeAlert(db: TenantDb, id: string, user: string): Promise<boolean> {
  const row = await db
    .updateTable('alerts')
    .set({
      acknowledged_at: sql`coalesce(acknowledged_at, now())`,
      acknowledged_by: sql`coalesce(acknowledged_by, ${user})`,
      due_at: sql`case when messages = 0 or status = 'over' then due_at end`,
    })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Ends alerts without news for a week, in silence, and removes those that ended a month ago. */
export async function endOldAlerts(db: SharedDb): Promise<void> {
  await sql`
    update alerts set status = 'over', over_at = now(), due_at = null
    where status = 'open' and last_at < now() - interval '7 days' and due_at is null`.execute(db);
  await sql`delete from alerts where status = 'over' and over_at < now() - interval '30 days' and due_at is null`.execute(
    db,
  );
}
