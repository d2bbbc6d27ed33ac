/**
 * Where a DAG that loads behaves otherwise than on Airflow: the one table. `svc check`, the warnings of DAGs and
 * docs/coming-from-airflow.md are made from it. A row stays until the product does what Airflow does.
 *
 * `since` says what a row compares with. `airflow-3`: how Airflow 3 runs the same file. `airflow-2`: what changed between
 * Airflow 2 and 3, for files that are written for 2.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';

export type Difference = { id: string; since: 'airflow-3' | 'airflow-2'; title: string; detail: string };

/** What the Python side saw that the spec does not show: python/svc_runtime/compile/differences.py. */
export type NotedDifference = { row: string; what: string; place: string };

/** `text`: the DAG file and its template files; only read for files that are written for Airflow 2. */
type Facts = {
  spec: CompiledSpec;
  noted: readonly NotedDifference[];
  text: string;
  isForAirflow2: boolean;
};

/** The tasks it is about; true when it is about the whole DAG. */
type Applies = (facts: Facts) => readonly string[] | boolean;
type Row = Difference & {
  /** 'noted': the Python side says so. */
  applies: Applies | 'noted';
};

type Task = CompiledSpec['tasks'][number];

const tasksWhere =
  (is: (task: Task) => boolean): Applies =>
  ({ spec }) =>
    spec.tasks.filter(is).map(({ task_id: id }) => id);

const DATES = /\b(?:ds|ds_nodash|ts|ts_nodash|logical_date|execution_date|data_interval_\w+|\w+_ds)\b/;
const CRON = new Set(['cron_trigger', 'multiple_cron_trigger']);

export const DIFFERENCES: readonly Row[] = [
  {
    id: 'email',
    since: 'airflow-3',
    title: 'email= sends nothing on failure and retry',
    detail:
      'Use on_failure_callback and on_retry_callback with a notifier, such as SmtpNotifier of apache-airflow-providers-smtp.',
    applies: tasksWhere(
      ({ policy }) =>
        policy.email.length > 0 && (policy.email_on_failure || (policy.email_on_retry && policy.retries > 0)),
    ),
  },
  {
    id: 'run-as-user',
    since: 'airflow-3',
    title: 'run_as_user has no effect',
    detail:
      'Tasks run as the user of their agent. On a cluster, set the user in executor_config or in the pod template; in lite, set executor.task_user.',
    applies: tasksWhere(({ policy }) => policy.run_as_user !== null),
  },
  {
    id: 'executor',
    since: 'airflow-3',
    title: 'executor= must name an executor of executor.type',
    detail:
      'These are orchestrator (pods), subprocess and remote (workers on other hosts). A DAG that names another one is refused: leave executor= out for the default.',
    applies: tasksWhere(({ policy }) => policy.executor !== null),
  },
  {
    id: 'queue',
    since: 'airflow-3',
    title: 'queue= chooses among remote workers only',
    detail:
      'If executor.type names remote, the queue says which workers take the task (docs/workers.md). Elsewhere the queue is only shown. To choose nodes of a cluster, use executor_config.',
    applies: tasksWhere(({ policy }) => policy.queue !== 'default'),
  },
  {
    id: 'stub',
    since: 'airflow-3',
    title: 'a DAG with @task.stub is refused when it is registered',
    detail:
      'There are no workers for tasks in Go, Java and other languages. Start the program with @task.bash, or in a container.',
    applies: tasksWhere(({ operator }) => operator.operator_name === '@task.stub'),
  },
  {
    id: 'state-store',
    since: 'airflow-3',
    title: '[state_store] of airflow.cfg has no effect',
    detail:
      'The control plane keeps the state of tasks and assets. Set state_store.default_retention, state_store.clear_on_success and state_store.max_value_bytes there.',
    applies: 'noted',
  },
  {
    id: 'access-control',
    since: 'airflow-3',
    title: 'access_control has no effect',
    detail:
      'Permissions follow from the role of a user and are the same for all DAGs of a tenant. Give each team a tenant.',
    applies: ({ spec }) => spec.dag.access_control !== null,
  },
  {
    id: 'asset-access-control',
    since: 'airflow-3',
    title: 'access_control of an asset has no effect',
    detail:
      'There are no teams within a tenant: each DAG of a tenant may write an asset and wait for it. Give each team a tenant.',
    applies: 'noted',
  },
  {
    id: 'newest-code',
    since: 'airflow-3',
    title: 'disable_bundle_versioning has no effect',
    detail: 'A run keeps the version of the DAG with which it began.',
    applies: ({ spec }) => spec.dag.disable_bundle_versioning,
  },
  {
    id: 'xcom-backend',
    since: 'airflow-3',
    title: 'the class that [core] xcom_backend names is not asked to purge values of cleared tasks',
    detail:
      'The process of a task calls its serialize_value and deserialize_value. Only XCom.delete calls purge: let the store of the class remove old values.',
    applies: 'noted',
  },
  {
    id: 'secrets-backend',
    since: 'airflow-3',
    title: 'the secrets backend of airflow.cfg is not asked',
    detail:
      'The operator of svc sets it: secrets.backend and secrets.backend_kwargs take the same class and the same arguments (docs/secrets.md).',
    applies: 'noted',
  },
  {
    id: 'log-settings',
    since: 'airflow-3',
    title: 'remote_logging and logging_config_class have no effect',
    detail: 'The operator of svc chooses the store of task logs with logs.backend (docs/logs.md).',
    applies: 'noted',
  },
  {
    id: 'metrics',
    since: 'airflow-3',
    title: 'statsd_on and otel_on of airflow.cfg have no effect, and Stats counts nowhere',
    detail:
      'The control plane has metrics of runs, tasks and pools under the names of Airflow at /metrics, and sends them by StatsD with metrics.statsd_host (docs/metrics.md). For metrics of your own, use a client library in the task.',
    applies: 'noted',
  },
  {
    id: 'settings',
    since: 'airflow-3',
    title: 'defaults of DAGs and tasks in airflow.cfg have no effect',
    detail:
      'Write the value into the DAG file: schedules (catchup=, timetables), limits (max_active_runs=), default_args (retries, owner, queue). Limits of the installation are settings of svc.',
    applies: 'noted',
  },
  {
    id: 'mutation-hook',
    since: 'airflow-3',
    title: 'task_instance_mutation_hook decides the queue and the pool only once',
    detail:
      'It is called when the file is compiled, without a run, and in the process of the task, but not before each try. Retries stay in their queue.',
    applies: 'noted',
  },
  {
    id: 'local-settings',
    since: 'airflow-3',
    title: 'get_airflow_context_vars and get_dagbag_import_timeout are not called',
    detail:
      'Set variables of tasks with env: in svc.yaml. A file may load as long as the limit of the compiler allows.',
    applies: 'noted',
  },
  {
    id: 'pod-mutation-hook',
    since: 'airflow-3',
    title: 'pod_mutation_hook is not called',
    detail: 'Use executor_config={"pod_override": …} or the defaults of svc.yaml; operators set the pods of all tasks.',
    applies: 'noted',
  },
  {
    id: 'cron-interval',
    since: 'airflow-2',
    title: 'a cron schedule has no data interval any more',
    detail:
      'On Airflow 2 the run of 02-01 began when 02-01 was over; since Airflow 3 logical_date, ds and both ends of the interval are the moment it begins. For the old meaning write schedule=CronDataIntervalTimetable("…", timezone="UTC").',
    applies: ({ spec, text }) => CRON.has(spec.schedule.type) && DATES.test(text),
  },
  {
    id: 'asset-date',
    since: 'airflow-2',
    title: 'runs that assets start have no logical date',
    detail:
      'On Airflow 2 they had the time of the last dataset event. Since Airflow 3 logical_date, ds and ts do not exist in them: use dag_run.run_after or triggering_asset_events.',
    applies: ({ spec, text }) => spec.schedule.type === 'asset' && DATES.test(text),
  },
  {
    id: 'catchup',
    since: 'airflow-2',
    title: 'missed runs are not caught up by default',
    detail:
      'The file does not say catchup=. On Airflow 2 that meant True, since Airflow 3 it means False. Say catchup=True if you want the runs since start_date.',
    applies: ({ spec, text }) =>
      spec.schedule.type !== 'null' && spec.schedule.type !== 'asset' && !/\bcatchup\b/.test(text),
  },
];

export type FoundDifference = Difference & {
  /** Empty when it is about the whole DAG. */
  tasks: string[];
  /** Arguments, settings and functions, with their places. */
  places: string[];
};

/** The rows that apply to a DAG, in the order of the table. */
export function differencesOf(facts: Facts): FoundDifference[] {
  return DIFFERENCES.flatMap(({ applies, ...difference }): FoundDifference[] => {
    if (difference.since === 'airflow-2' && !facts.isForAirflow2) return [];
    if (applies === 'noted') {
      const places = facts.noted.filter(({ row }) => row === difference.id).map(placeOf);
      return places.length > 0 ? [{ ...difference, tasks: [], places }] : [];
    }
    const found = applies(facts);
    if (typeof found === 'boolean') return found ? [{ ...difference, tasks: [], places: [] }] : [];
    return found.length > 0 ? [{ ...difference, tasks: [...found], places: [] }] : [];
  });
}

const placeOf = ({ what, place }: NotedDifference): string => (place === '' ? what : `${what} (${place})`);
