/** Deadlines of runs, for people. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type StoredDeadline = {
  id: string;
  run: number;
  position: number;
  deadline_time: string;
  created_at: string;
  missed_at: string | null;
  kept_at: string | null;
};

/** Query plan: the key of deadlines by run. */
export async function listDeadlines(db: TenantDb, runs: readonly number[]): Promise<StoredDeadline[]> {
  if (runs.length === 0) return [];
  return db
    .selectFrom('deadlines')
    .select(['id', 'run', 'position', 'deadline_time', 'created_at', 'missed_at', 'kept_at'])
    .where('run', 'in', [...runs])
    .execute();
}

const MISSED = sql<boolean>`(d.missed_at is not null or (d.kept_at is null and coalesce(r.end_date, now()) > d.deadline_time))`;
const LAST_UPDATED_AT = sql<Moment>`coalesce(d.missed_at, d.kept_at, d.created_at)`;

/** Sort keys. Alerts without a name are sorted by their place in the DAG. */
const SORTABLE = {
  id: sql`d.id`,
  deadline_time: sql`d.deadline_time`,
  created_at: sql`d.created_at`,
  last_updated_at: LAST_UPDATED_AT,
  missed: MISSED,
  dag_id: sql`d.dag_id`,
  dag_run_id: sql`r.run_id`,
  alert_name: sql`coalesce(d.alert_name, d.position::text)`,
} as const satisfies Record<string, RawBuilder<unknown>>;
export type DeadlineColumn = keyof typeof SORTABLE;

type Comparison = { operator: '>=' | '>' | '<=' | '<'; moment: Moment };
export type DeadlineQuery = {
  limit: number;
  offset: number;
  order: readonly { column: DeadlineColumn; direction: 'asc' | 'desc' }[];
  dagId?: string;
  isMissed?: boolean;
  deadlineTime: readonly Comparison[];
  lastUpdatedAt: readonly Comparison[];
};

export type DeadlineOfRun = {
  id: string;
  dag_id: string;
  run_id: string;
  position: number;
  deadline_time: Moment;
  created_at: Moment;
  missed: boolean;
  version_id: string | null;
  alert_name: string | null;
};

/** Returns the stored deadlines of many runs. */
export async function listDeadlinesOfRuns(
  db: TenantDb,
  query: DeadlineQuery,
): Promise<{ deadlines: DeadlineOfRun[]; total: number }> {
  let matching = db.selectFrom('deadlines as d').innerJoin('dag_runs as r', 'r.id', 'd.run');
  if (query.dagId !== undefined) matching = matching.where('d.dag_id', '=', query.dagId);
  if (query.isMissed !== undefined) matching = matching.where(sql<boolean>`${MISSED} = ${query.isMissed}`);
  for (const { operator, moment } of query.deadlineTime) {
    matching = matching.where(sql<boolean>`d.deadline_time ${sql.raw(operator)} ${moment}`);
  }
  for (const { operator, moment } of query.lastUpdatedAt) {
    matching = matching.where(sql<boolean>`${LAST_UPDATED_AT} ${sql.raw(operator)} ${moment}`);
  }
  let page = matching
    .leftJoin('dag_versions as v', (join) =>
      join.onRef('v.dag_id', '=', 'r.dag_id').onRef('v.version_number', '=', 'r.version_number'),
    )
    .select([
      'd.id',
      'd.dag_id',
      'r.run_id',
      'd.position',
      'd.deadline_time',
      'd.created_at',
      'd.alert_name',
      'v.id as version_id',
    ])
    .select(MISSED.as('missed'))
    .limit(query.limit)
    .offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(SORTABLE[column], direction);
  const [deadlines, count] = await Promise.all([
    page.orderBy('d.id').execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { deadlines, total: count.total };
}
