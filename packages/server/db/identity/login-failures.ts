/**
 * The failed-login budget of a client address, in Postgres so that all processes share it. The row is locked while a
 * password is checked, so attempts from one address run one after another: parallel guesses cannot all pass the check
 * before the first one is counted. A successful login does not change the row.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { Database } from '../database.ts';
import type { AllTables } from '../schema.ts';

const WINDOW_SECONDS = 60;

export type Budget = { failures: number; secondsLeft: number };

export async function lockBudget(trx: Transaction<AllTables>, clientIp: string): Promise<Budget> {
  // The upsert creates the row if necessary and locks it in any case. An expired window starts again.
  const { rows } = await sql<Budget>`
    insert into login_failures as f (client_ip, window_started_at, failures) values (${clientIp}, clock_timestamp(), 0)
    on conflict (client_ip) do update set
      failures = case when f.window_started_at < clock_timestamp() - make_interval(secs => ${WINDOW_SECONDS}) then 0 else f.failures end,
      window_started_at = case when f.window_started_at < clock_timestamp() - make_interval(secs => ${WINDOW_SECONDS})
        then clock_timestamp() else f.window_started_at end
    returning failures,
      greatest(1, ceil(extract(epoch from window_started_at - clock_timestamp()) + ${WINDOW_SECONDS}))::int as "secondsLeft"`.execute(
    trx,
  );
  return rows[0] ?? { failures: 0, secondsLeft: WINDOW_SECONDS };
}

export async function countFailure(trx: Transaction<AllTables>, clientIp: string): Promise<void> {
  await trx
    .updateTable('login_failures')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('client_ip', '=', clientIp)
    .execute();
}

export async function deleteOldBudgets(db: Database): Promise<void> {
  await sql`delete from login_failures where window_started_at < now() - interval '10 minutes'`.execute(db.shared);
}
