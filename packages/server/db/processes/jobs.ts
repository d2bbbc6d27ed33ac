/** The processes of the control plane as Airflow's jobs: one per component of a process. They serve all tenants. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type JobState = 'running' | 'success' | 'failed';

export type JobRow = {
  id: number;
  jobType: string;
  state: JobState;
  hostname: string;
  unixname: string | null;
  /** For schedulers: the executor of tasks that name none. */
  executorClass: string | null;
  startedAt: Moment;
  lastSeenAt: Moment;
  endedAt: Moment | null;
};

const COLUMNS = {
  id: 'id',
  job_type: '"jobType"',
  state: 'state',
  hostname: 'hostname',
  unixname: 'unixname',
  executor_class: '"executorClass"',
  start_date: '"startedAt"',
  end_date: '"endedAt"',
  latest_heartbeat: '"lastSeenAt"',
} as const;
export type JobColumn = keyof typeof COLUMNS;

export type JobQuery = {
  limit: number;
  offset: number;
  order: readonly { column: JobColumn; direction: 'asc' | 'desc' }[];
  isAlive?: boolean;
  state?: string;
  jobType?: string;
  hostname?: string;
  executorClass?: string;
  range: readonly { column: 'start_date' | 'end_date'; operator: '>=' | '>' | '<=' | '<'; moment: Moment }[];
};

/** A process that is silent for this long counts as dead, as in Airflow. */
const SILENT_SECONDS = 30;

/** Airflow's names for executors that it also has. */
const executorClass = sql`case executor #>> '{execution_modes,0}'
    when 'subprocess' then 'LocalExecutor' when 'pod' then 'KubernetesExecutor' else executor #>> '{execution_modes,0}' end`;

const jobs = sql`(
  select id, hostname, unixname, ${executorClass} as "executorClass", started_at as "startedAt", last_seen_at as "lastSeenAt",
    case component when 'scheduler' then 'SchedulerJob' when 'triggerer' then 'TriggererJob' else 'DagProcessorJob' end as "jobType",
    case when stopped_at is not null then 'success'
      when last_seen_at < now() - make_interval(secs => ${sql.lit(SILENT_SECONDS)}) then 'failed' else 'running' end as state,
    case when stopped_at is not null then stopped_at
      when last_seen_at < now() - make_interval(secs => ${sql.lit(SILENT_SECONDS)}) then last_seen_at end as "endedAt"
  from heartbeats) j`;

export async function listJobs(db: SharedDb, query: JobQuery): Promise<{ jobs: JobRow[]; total: number }> {
  const conditions: RawBuilder<unknown>[] = [
    sql`true`,
    ...(query.isAlive === undefined ? [] : [sql`(state = 'running') = ${query.isAlive}`]),
    ...(query.state === undefined ? [] : [sql`state = ${query.state}`]),
    ...(query.jobType === undefined ? [] : [sql`"jobType" = ${query.jobType}`]),
    ...(query.hostname === undefined ? [] : [sql`hostname = ${query.hostname}`]),
    ...(query.executorClass === undefined ? [] : [sql`"executorClass" = ${query.executorClass}`]),
    ...query.range.map(
      ({ column, operator, moment }) => sql`${sql.raw(COLUMNS[column])} ${sql.raw(operator)} ${moment}::timestamptz`,
    ),
  ];
  const where = sql.join(conditions, sql` and `);
  const order = sql.join(
    query.order.map(({ column, direction }) => sql`${sql.raw(COLUMNS[column])} ${sql.raw(direction)}`),
  );
  const [page, count] = await Promise.all([
    sql<JobRow>`select * from ${jobs} where ${where} order by ${order} limit ${query.limit} offset ${query.offset}`.execute(
      db,
    ),
    sql<{ total: number }>`select count(*) as total from ${jobs} where ${where}`.execute(db),
  ]);
  return { jobs: page.rows, total: count.rows[0]?.total ?? 0 };
}
