/** A process of the control plane in the form of an Airflow job. */
import { Type } from 'typebox';
import type { JobRow } from '../../db/processes/jobs.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';

export const Job = Type.Object(
  {
    id: Type.Integer(),
    dag_id: Nullable(Type.String()),
    state: Nullable(
      Type.String({ description: 'running, success when it left by itself, failed when it fell silent' }),
    ),
    job_type: Nullable(Type.String({ description: 'SchedulerJob, TriggererJob or DagProcessorJob' })),
    start_date: Nullable(DateTime),
    end_date: Nullable(DateTime),
    latest_heartbeat: Nullable(DateTime),
    executor_class: Nullable(Type.String({ description: 'Of schedulers: the executor of tasks that name none' })),
    hostname: Nullable(Type.String()),
    unixname: Nullable(Type.String({ description: 'The user of the operating system that it runs as' })),
    dag_display_name: Nullable(Type.String()),
  },
  { title: 'Job' },
);

export const jobBody = (job: JobRow) => ({
  id: job.id,
  dag_id: null,
  state: job.state,
  job_type: job.jobType,
  start_date: job.startedAt,
  end_date: job.endedAt,
  latest_heartbeat: job.lastSeenAt,
  executor_class: job.executorClass,
  hostname: job.hostname,
  unixname: job.unixname,
  dag_display_name: null,
});
