import { describe, expect, it } from 'vitest';
import type { LiveWork, WorkOfDag, WorkSnapshot } from '../../db/work/read-work.ts';
import { WORK_COLUMNS } from '../../db/work/work-columns.ts';
import { createWorkExposition, renderWork } from './work-exposition.ts';
import { WORK_METRICS, prometheusName } from './work-metrics.ts';
import { generalSeries } from './work-series.ts';

const EMPTY: WorkSnapshot = {
  dags: [],
  changesOfDags: [],
  allDags: 0,
  ofTenants: [],
  changesOfTenants: [],
  live: [],
  pools: [],
  recentRuns: [],
  tenants: [{ tenant: 'default', dags: 1, importErrors: 0, dagsWithRunningRuns: 0 }],
};
const snapshot = (parts: Partial<WorkSnapshot>): WorkSnapshot => ({
  ...EMPTY,
  allDags: parts.dags?.length ?? 0,
  ...parts,
});
const live = (parts: Partial<LiveWork>): LiveWork => ({
  tenant: 'default',
  dagId: 'a',
  taskId: '',
  pool: 'default_pool',
  queue: 'default',
  state: 'running',
  isHeld: false,
  instances: 1,
  slots: 1,
  ...parts,
});
const dag = (dagId: string, taskId: string, numbers: Record<string, number>): WorkOfDag => [
  'default',
  dagId,
  taskId,
  ...WORK_COLUMNS.map((column) => numbers[column] ?? 0),
];
const textOf = (parts: Partial<WorkSnapshot>, maxSeries = 1_000): string[] =>
  renderWork(snapshot(parts), { openSlots: 7, maxSeries }).split('\n');

describe('the text of the metrics of work', () => {
  it('has the names and labels of the StatsD mapping of Airflow, or dashboards of Airflow show nothing', () => {
    const dags = [
      dag('a', '', { run_success_count: 2, run_success_seconds: 12.5 }),
      dag('a', 't', { task_count: 4, task_seconds: 8, finished_success: 4 }),
    ];
    const ofTenants: WorkSnapshot['ofTenants'] = [['default', 'operator_failures', 'BashOperator', 3]];
    const recentRuns = [{ tenant: 'default', dagId: 'a', state: 'success' as const, quantiles: [1, 2, 3] }];
    expect(textOf({ dags, ofTenants, recentRuns })).toEqual(
      expect.arrayContaining([
        '# TYPE airflow_dagrun_duration_success summary',
        'airflow_dagrun_duration_success{tenant="default",dag_id="a",quantile="0.9"} 2',
        'airflow_dagrun_duration_success_sum{tenant="default",dag_id="a"} 12.5',
        'airflow_dagrun_duration_success_count{tenant="default",dag_id="a"} 2',
        'airflow_task_duration_count{tenant="default",dag_id="a",task_id="t"} 4',
        'airflow_ti_finish{tenant="default",dag_id="a",task_id="t",state="success"} 4',
        'airflow_operator_failures{tenant="default",operator="BashOperator"} 3',
        'airflow_ti_failures{tenant="default"} 3',
        'airflow_ti_successes{tenant="default"} 0',
        'airflow_executor_open_slots 7',
      ]),
    );
  });

  it('has only names that Prometheus allows, each once', () => {
    const names = Object.keys(WORK_METRICS).map(prometheusName);
    expect(names.filter((name) => !/^[a-z_][a-z0-9_]*$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('adds what is not folded yet and what runs now, so that a start is never counted late or twice', () => {
    const dags = [dag('a', '', { started: 10 })];
    const changesOfDags = [dag('a', '', { started: 2 })];
    const text = textOf({ dags, changesOfDags, live: [live({ instances: 3 })] });
    expect(text).toContain('airflow_ti_start{tenant="default",dag_id="a"} 15');
    expect(text).toContain('airflow_ti_running{tenant="default",dag_id="a",queue="default"} 3');
  });

  it('begins failures at 0 with the first start of a DAG, or its first failure is no increase for an alert', () => {
    const text = textOf({ live: [live({ taskId: 't' })] });
    expect(text).toContain('airflow_dagrun_duration_failed_count{tenant="default",dag_id="a"} 0');
    expect(text).toContain('airflow_ti_finish{tenant="default",dag_id="a",task_id="t",state="failed"} 0');
  });

  it('says what a full pool holds back: its scheduled tasks starve, and limits of a DAG are no starvation', () => {
    const pools = [
      { tenant: 'default', name: 'full', slots: 2, includesDeferred: false },
      { tenant: 'default', name: 'endless', slots: -1, includesDeferred: false },
    ];
    const own = [
      live({ pool: 'full', slots: 2 }),
      live({ pool: 'full', state: 'scheduled', instances: 4, slots: 8 }),
      live({ pool: 'full', state: 'scheduled', instances: 1, slots: 1, isHeld: true }),
      live({ pool: 'endless', state: 'scheduled', instances: 5, slots: 5 }),
    ];
    expect(textOf({ pools, live: own })).toEqual(
      expect.arrayContaining([
        'airflow_pool_open_slots{tenant="default",pool="full"} 0',
        'airflow_pool_open_slots{tenant="default",pool="endless"} +Inf',
        'airflow_pool_scheduled_slots{tenant="default",pool="full"} 9',
        'airflow_pool_starving_tasks{tenant="default",pool="full"} 4',
        'airflow_scheduler_tasks_starving{tenant="default"} 4',
        'airflow_scheduler_tasks_executable{tenant="default"} 5',
      ]),
    );
  });

  it('escapes what an author may write into a name, or one DAG breaks the whole scrape', () => {
    expect(textOf({ dags: [dag('a"b\\c\nd', '', { started: 1 })] })).toContain(
      String.raw`airflow_ti_start{tenant="default",dag_id="a\"b\\c\nd"} 1`,
    );
  });

  it('leaves out whole DAGs at the limit, always the same, and counts their series', () => {
    const dags = ['a', 'b', 'c'].map((dagId) => dag(dagId, '', { started: 1, run_success_count: 1 }));
    const general = [...generalSeries(snapshot({}), 0)].length;
    const text = textOf({ dags }, general + 7 + 2);
    expect(text.filter((line) => line.startsWith('airflow_ti_start{'))).toEqual([
      'airflow_ti_start{tenant="default",dag_id="a"} 1',
    ]);
    expect(text).toContain('svc_metrics_series_left_out 14');
  });

  it('is read once for scrapes at the same time, and is empty while the database is away', async () => {
    let reads = 0;
    const working = createWorkExposition({
      read: async () => {
        reads += 1;
        return { snapshot: EMPTY, openSlots: 0 };
      },
      maxSeries: 100,
    });
    const [one, same] = await Promise.all([working(), working()]);
    expect([one, reads]).toEqual([same, 1]);
    const failing = createWorkExposition({ read: () => Promise.reject(new Error('away')), maxSeries: 100 });
    expect(await failing()).toBe('');
    const other = createWorkExposition({ read: async () => null, maxSeries: 100 });
    expect((await other()).split('\n')).toContain('svc_metrics_serves_work 0');
    expect(await other()).not.toContain('airflow_');
  });
});
