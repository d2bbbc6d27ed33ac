/** The instances of runs by task and state, for the cells of the grid. */
import { sql } from 'kysely';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import { momentFromPostgres } from '../moment.ts';

/** Instances of one task in one state. For a task that is not mapped it is the only one. */
export type TaskCount = {
  task_id: string;
  state: TaskStateOrNone;
  count: number;
  is_mapped: boolean;
  started: string | null;
  ended: string | null;
  version: number;
  has_note: boolean;
};

/**
 * Query plan: per run the instances by primary key, in its order. A task with ten thousand instances is one cell, so
 * the database counts if there are mapped tasks. Otherwise counting would only double its time.
 *
 * It returns one text per run instead of a row per task, because reading rows took more than everything else together
 * (`npm run bench -- ui --only cells`: 30 instead of 76 ms for ten runs of a thousand tasks).
 */
export async function countInstancesByTask(
  db: TenantDb,
  { tenantId, runs, isMapped }: { tenantId: string; runs: readonly number[]; isMapped: boolean },
): Promise<Map<number, TaskCount[]>> {
  const columns = isMapped
    ? sql`task_id, state, count(*) as count, bool_or(map_index >= 0) as is_mapped, min(start_date) as started,
        max(end_date) as ended, max(version_number) as version, bool_or(note is not null) as has_note`
    : sql`task_id, state, 1 as count, map_index >= 0 as is_mapped, start_date as started, end_date as ended,
        version_number as version, note is not null as has_note`;
  const { rows } = await sql<{ run: number; lines: string | null }>`
    select k.run, (
      select string_agg(concat(task_id, E'\\t', state, E'\\t', count, E'\\t', is_mapped, E'\\t', started, E'\\t', ended, E'\\t', version, E'\\t', has_note), E'\\n')
      from (
        select ${columns} from task_instances t where t.tenant_id = ${tenantId} and t.run = k.run
        ${isMapped ? sql`group by task_id, state` : sql``} order by task_id
      ) as c
    ) as lines from unnest(${[...runs]}::bigint[]) as k(run)`.execute(db);
  return new Map(rows.map(({ run, lines }) => [run, lines?.split('\n').map(readLine) ?? []]));
}

/** Ids of tasks contain neither tabs nor line ends. */
function readLine(line: string): TaskCount {
  const [taskId = '', state = '', count, isMapped, started = '', ended = '', version, hasNote] = line.split('\t');
  return {
    task_id: taskId,
    state: state === '' ? null : (state as TaskState),
    count: Number(count),
    is_mapped: isMapped === 't',
    started: started === '' ? null : momentFromPostgres(started),
    ended: ended === '' ? null : momentFromPostgres(ended),
    version: Number(version),
    has_note: hasNote === 't',
  };
}
