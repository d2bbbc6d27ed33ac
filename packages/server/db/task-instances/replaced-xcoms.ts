/** Values that a clear has deleted, with the time in which tasks could read them (migration 0051). */
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type ReplacedXcom = {
  task_id: string;
  map_index: number;
  key: string;
  /** JSON text, as the task encoded it. */
  value: string;
  written_at: Moment;
  replaced_at: Moment;
};

/** Query plan: primary key of replaced_xcoms, which has no rows for most runs. */
export async function listReplacedXcoms(
  db: TenantDb,
  { run, limit, offset }: { run: number; limit: number; offset: number },
): Promise<{ entries: ReplacedXcom[]; total: number }> {
  const ofRun = db.selectFrom('replaced_xcoms').where('run', '=', run);
  const [entries, { total }] = await Promise.all([
    ofRun
      .select(['task_id', 'map_index', 'key', 'value', 'written_at', 'replaced_at'])
      .orderBy('task_id')
      .orderBy('map_index')
      .orderBy('key')
      .orderBy('replaced_at')
      .limit(limit)
      .offset(offset)
      .execute(),
    ofRun.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { entries, total };
}
