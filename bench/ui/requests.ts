/** The requests of the pages of the web UI, with the filters and orders that it offers. */
import { LONG, PLAIN, WIDE } from './store.ts';

export type UiRequest = { name: string; path: string; isTarget?: boolean };

const HOUR_MS = 3_600_000;
const ago = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();
const DAGS = '/ui/dags?dag_runs_limit=14&limit=50&offset=0&tags_match_mode=any&exclude_stale=true';
const RUNS = '/api/v2/dags/~/dagRuns';
const INSTANCES = '/api/v2/dags/~/dagRuns/~/taskInstances';
const runIds = (count: number, of: number): string =>
  Array.from({ length: count }, (_, n) => `run_ids=run_${String(of - n).padStart(5, '0')}`).join('&');

const named =
  (isTarget: boolean) =>
  ([name, path]: readonly [string, string]): UiRequest => ({ name, path, isTarget });

/** Requests that must answer within 150 ms (p95). */
const targets = (): UiRequest[] =>
  (
    [
      ['DAG list', `${DAGS}&order_by=dag_display_name`],
      ['DAG list, table', `${DAGS.replace('=14', '=1')}&order_by=dag_display_name`],
      ['DAG list, last page', `${DAGS.replace('offset=0', 'offset=4950')}&order_by=dag_display_name`],
      ['DAG list, search', `${DAGS}&order_by=dag_display_name&dag_display_name_prefix_pattern=dag_12`],
      ['DAG list, advanced search', `${DAGS}&order_by=dag_display_name&dag_display_name_pattern=%2599%25`],
      ['DAG list, active', `${DAGS}&order_by=dag_display_name&paused=false`],
      ['DAG list, tags', `${DAGS}&order_by=dag_display_name&tags=team_3&tags=kind_2`],
      ['DAG list, owner', `${DAGS}&order_by=dag_display_name&owners=owner_3`],
      ['DAG list, favourites', `${DAGS}&order_by=dag_display_name&is_favorite=true`],
      ['DAG list, failed', `${DAGS}&order_by=dag_display_name&last_dag_run_state=failed`],
      ['DAG list, running', `${DAGS}&order_by=dag_display_name&last_dag_run_state=running`],
      ['DAG list, by next run', `${DAGS}&order_by=-next_dagrun`],
      ['DAG list, by last state', `${DAGS}&order_by=last_run_state`],
      ['DAG list, by last start', `${DAGS}&order_by=-last_run_start_date`],
      ['DAG list, with required actions', `${DAGS}&order_by=dag_display_name&has_pending_actions=true`],
      ['DAG search box', '/api/v2/dags?limit=10&dag_display_name_prefix_pattern=dag_3'],
      ...gridOf('1,000 runs', LONG.dagId, LONG.runs),
      ...gridOf('1,000 tasks', WIDE.dagId, WIDE.runs),
      ['task instances', `${INSTANCES}?cursor=&limit=50&order_by=-id`],
      ['task instances, by start', `${INSTANCES}?cursor=&limit=50&order_by=-start_date`],
      ['task instances, by run', `${INSTANCES}?cursor=&limit=50&order_by=-run_after`],
      ['task instances, failed', `${INSTANCES}?cursor=&limit=50&order_by=-id&state=failed`],
      ['task instances, succeeded', `${INSTANCES}?cursor=&limit=50&order_by=-id&state=success`],
      ['task instances, running', `${INSTANCES}?cursor=&limit=50&order_by=-id&state=running`],
      ['task instances, of a name', `${INSTANCES}?cursor=&limit=50&order_by=-id&task_display_name_pattern=t07`],
      ['task instances, of DAGs', `${INSTANCES}?cursor=&limit=50&order_by=-id&dag_id_prefix_pattern=dag_12`],
      ['task instances, of a pool', `${INSTANCES}?cursor=&limit=50&order_by=-id&pool_name_pattern=default`],
      ['task instances, started today', `${INSTANCES}?cursor=&limit=50&order_by=-id&start_date_gte=${ago(24)}`],
      ['task instances, by number', `${INSTANCES}?limit=50&offset=1000&order_by=-id`],
      ['task instances of a DAG', `/api/v2/dags/${PLAIN}/dagRuns/~/taskInstances?cursor=&limit=50&order_by=-id`],
      [
        'task instances of a DAG, failed in a week',
        `/api/v2/dags/${PLAIN}/dagRuns/~/taskInstances?run_after_gte=${ago(168)}&run_after_lte=${ago(0)}&state=failed&order_by=-run_after`,
      ],
      [
        'task instances of a task',
        `/api/v2/dags/${LONG.dagId}/dagRuns/~/taskInstances?task_id=t03&limit=14&order_by=-run_after`,
      ],
      [
        'task instances of a run of 1,000',
        `/api/v2/dags/${WIDE.dagId}/dagRuns/run_00030/taskInstances?cursor=&limit=50&order_by=-id`,
      ],
    ] as const
  ).map(named(true));

const gridOf = (what: string, dagId: string, runs: number): (readonly [string, string])[] => [
  [
    `grid of ${what}, structure`,
    `/ui/grid/structure/${dagId}?include_upstream=false&include_downstream=false&limit=10&order_by=-run_after`,
  ],
  [`grid of ${what}, runs`, `/ui/grid/runs/${dagId}?limit=10&order_by=-run_after`],
  [`grid of ${what}, all its runs`, `/ui/grid/runs/${dagId}?limit=365&order_by=-run_after`],
  [`grid of ${what}, cells of 10 runs`, `/ui/grid/ti_summaries/${dagId}?${runIds(10, runs)}`],
];

const others = (): UiRequest[] =>
  (
    [
      ['dashboard, DAGs', '/ui/dashboard/dag_stats'],
      ['dashboard, a day', `/ui/dashboard/historical_metrics_data?start_date=${ago(24)}`],
      ['dashboard, a week', `/ui/dashboard/historical_metrics_data?start_date=${ago(168)}`],
      [
        'dashboard, asset events',
        `/api/v2/assets/events?limit=6&order_by=-timestamp&timestamp_gte=${ago(24)}&timestamp_lte=${ago(0)}`,
      ],
      ['dashboard, required actions', `${RUNS}/~/hitlDetails?state=deferred&response_received=false`],
      ['DAG tags', '/api/v2/dagTags?limit=10&offset=0&order_by=name&tag_name_prefix_pattern='],
      ['import errors', '/api/v2/importErrors?limit=50&offset=0'],
      ['DAG details', `/api/v2/dags/${WIDE.dagId}/details`],
      ['latest run', `/ui/dags/${LONG.dagId}/latest_run`],
      [
        'graph of 1,000 tasks',
        `/ui/structure/structure_data?dag_id=${WIDE.dagId}&external_dependencies=false&version_number=1`,
      ],
      ['gantt of 1,000 tasks', `/ui/gantt/${WIDE.dagId}/run_00030`],
      [
        'calendar of 1,000 runs',
        `/ui/calendar/${LONG.dagId}?granularity=daily&logical_date_gte=${ago(8_760)}&logical_date_lte=${ago(0)}`,
      ],
      ['cells of 100 runs', `/ui/grid/ti_summaries/${LONG.dagId}?${runIds(100, LONG.runs)}`],
      ['runs', `${RUNS}?cursor=&limit=50&order_by=-run_after`],
      ['runs, at work', `${RUNS}?limit=1&state=running&state=queued`],
      ['runs, failed', `${RUNS}?cursor=&limit=50&order_by=-run_after&state=failed`],
      ['runs, manual', `${RUNS}?cursor=&limit=50&order_by=-run_after&run_type=manual`],
      ['runs, by duration', `${RUNS}?cursor=&limit=50&order_by=-duration`],
      ['runs of a DAG', `/api/v2/dags/${LONG.dagId}/dagRuns?cursor=&limit=50&order_by=-run_after`],
      ['audit log', '/api/v2/eventLogs?limit=50&offset=0&order_by=-when'],
      ['audit log, last page', '/api/v2/eventLogs?limit=50&offset=199950&order_by=-when'],
      ['audit log of a DAG', `/api/v2/eventLogs?limit=50&offset=0&order_by=-when&dag_id=${PLAIN}`],
      ['audit log of a user', '/api/v2/eventLogs?limit=50&offset=0&order_by=-when&owner=user_7'],
      ['audit log of an operation', '/api/v2/eventLogs?limit=50&offset=0&order_by=-when&event=patch_dag'],
      ['assets', '/api/v2/assets?limit=50&offset=0&name_prefix_pattern='],
      ['asset events', '/api/v2/assets/events?limit=50&order_by=-timestamp'],
      ['asset events of an asset', '/api/v2/assets/events?limit=50&order_by=-timestamp&asset_id=3'],
      ['asset events of a DAG', `/api/v2/assets/events?limit=50&order_by=-timestamp&source_dag_id=${PLAIN}`],
      ['dependencies of an asset', '/ui/dependencies?node_id=asset:4&dependency_type=scheduling'],
      ['dependencies of all DAGs', '/ui/dependencies?dependency_type=scheduling'],
      ['next run assets', `/ui/next_run_assets/${PLAIN}`],
    ] as const
  ).map(named(false));

export const uiRequests = (): UiRequest[] => [...targets(), ...others()];
