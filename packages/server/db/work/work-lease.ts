/**
 * One process at a time exports the metrics of work. Each process knows the same totals, and a sum over two of them
 * would count all work twice.
 */
import { sql } from 'kysely';
import type { Database } from '../database.ts';

export type WorkExport = 'scrape' | 'statsd';

/** Takes or renews the lease. Returns false while another process has it. */
export async function takeWorkLease(
  db: Database,
  { name, holder, seconds }: { name: WorkExport; holder: string; seconds: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into work_leases (name, holder, until)
    values (${name}, ${holder}::uuid, clock_timestamp() + ${seconds} * interval '1 second')
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where work_leases.holder = excluded.holder or work_leases.until <= clock_timestamp()
    returning name`.execute(db.shared);
  return rows.length > 0;
}

/** Lets another process take over at once. */
export async function releaseWorkLeases(db: Database, holder: string): Promise<void> {
  await sql`update work_leases set until = clock_timestamp() where holder = ${holder}::uuid`.execute(db.shared);
}
