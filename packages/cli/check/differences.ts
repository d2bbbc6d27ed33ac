/**
 * Where a DAG that loads behaves otherwise than on Airflow: the one table of it. `since` says compared with what: `airflow-3` is
 * how 3.2 would run the same file; `airflow-2` is what changed between 2 and 3, told where a file is written for 2.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';

export type Difference = { id: string; since: 'airflow-3' | 'airflow-2'; title: string; detail: string };

/** `text`: the DAG file and its template files. */
type Facts = { spec: CompiledSpec; text: string; isForAirflow2: boolean };
type Rule = Difference & {
  /** The tasks it is about; true when it is about the DAG. */
  applies: (facts: Facts) => readonly string[] | boolean;
};

const tasksWhere = (spec: CompiledSpec, is: (task: CompiledSpec['tasks'][number]) => boolean): string[] =>
  spec.tasks.filter(is).map(({ task_id: id }) => id);

const DATES = /\b(?:ds|ds_nodash|ts|ts_nodash|logical_date|execution_date|data_interval_\w+|\w+_ds)\b/;
const CRON = new Set(['cron_trigger', 'multiple_cron_trigger']);

export const DIFFERENCES: readonly Rule[] = [
  {
    id: 'email',
    since: 'airflow-3',
    title: 'no mail on failure and retry',
    detail:
      'email= with email_on_failure or email_on_retry sends nothing. Use on_failure_callback with a notifier, such as SmtpNotifier of apache-airflow-providers-smtp.',
    applies: ({ spec }) =>
      tasksWhere(
        spec,
        ({ policy }) =>
          policy.email.length > 0 && (policy.email_on_failure || (policy.email_on_retry && policy.retries > 0)),
      ),
  },
  {
    id: 'run-as-user',
    since: 'airflow-3',
    title: 'run_as_user has no effect',
    detail:
      'Tasks run as the user of their agent; on a cluster set the user in executor_config or in the pod template, in lite with executor.task_user.',
    applies: ({ spec }) => tasksWhere(spec, ({ policy }) => policy.run_as_user !== null),
  },
  {
    id: 'executor',
    since: 'airflow-3',
    title: 'executor= must name an executor of executor.type',
    detail:
      'They are orchestrator (pods), subprocess and remote (workers on other hosts). A DAG that names another one is refused: leave it out for the default.',
    applies: ({ spec }) => tasksWhere(spec, ({ policy }) => policy.executor !== null),
  },
  {
    id: 'queue',
    since: 'airflow-3',
    title: 'queue= chooses among remote workers only',
    detail:
      'Where executor.type names remote, the queue says which workers take the task (docs/workers.md). Elsewhere it is shown and can be filtered by: to choose nodes of a cluster, use executor_config.',
    applies: ({ spec }) => tasksWhere(spec, ({ policy }) => policy.queue !== 'default'),
  },
  {
    id: 'access-control',
    since: 'airflow-3',
    title: 'access_control has no effect',
    detail:
      'Permissions are those of a user’s role, the same for all DAGs of a tenant. Give teams tenants of their own.',
    applies: ({ spec }) => spec.dag.access_control !== null,
  },
  {
    id: 'newest-code',
    since: 'airflow-3',
    title: 'disable_bundle_versioning has no effect',
    detail: 'A run always keeps the version of the DAG it began with.',
    applies: ({ spec }) => spec.dag.disable_bundle_versioning,
  },
  {
    id: 'cron-interval',
    since: 'airflow-2',
    title: 'a cron schedule has no data interval any more',
    detail:
      'On Airflow 2 the run of 02-01 began when 02-01 was over; since Airflow 3 logical_date, ds and both ends of the interval are the moment it begins. For the old meaning write schedule=CronDataIntervalTimetable("…", timezone="UTC").',
    applies: ({ spec, text, isForAirflow2 }) => isForAirflow2 && CRON.has(spec.schedule.type) && DATES.test(text),
  },
  {
    id: 'asset-date',
    since: 'airflow-2',
    title: 'runs that assets start have no logical date',
    detail:
      'On Airflow 2 they had the time of the last dataset event. Since Airflow 3 logical_date, ds and ts do not exist in them: use dag_run.run_after or triggering_asset_events.',
    applies: ({ spec, text, isForAirflow2 }) => isForAirflow2 && spec.schedule.type === 'asset' && DATES.test(text),
  },
  {
    id: 'catchup',
    since: 'airflow-2',
    title: 'missed runs are not caught up by default',
    detail:
      'The file does not say catchup=. On Airflow 2 that meant True, since Airflow 3 it means False. Say catchup=True if you want the runs since start_date.',
    applies: ({ spec, text, isForAirflow2 }) =>
      isForAirflow2 && spec.schedule.type !== 'null' && spec.schedule.type !== 'asset' && !/\bcatchup\b/.test(text),
  },
];

export type FoundDifference = Difference & { tasks: string[] };

export function differencesOf(facts: Facts): FoundDifference[] {
  return DIFFERENCES.flatMap(({ applies, ...difference }) => {
    const found = applies(facts);
    if (found === false || (Array.isArray(found) && found.length === 0)) return [];
    return [{ ...difference, tasks: Array.isArray(found) ? [...(found as readonly string[])] : [] }];
  });
}
