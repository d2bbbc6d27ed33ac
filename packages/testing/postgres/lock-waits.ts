import { eventually } from '../eventually.ts';
import { queryDatabase } from './query-database.ts';

/** Resolves when at least so many connections to the database wait for a lock: only then is something held up. */
export async function untilLockWaits(url: string, count = 1): Promise<void> {
  await eventually(async () => {
    const [row] = await queryDatabase<{ waiting: number }>(
      url,
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return (row?.waiting ?? 0) >= count;
  });
}
