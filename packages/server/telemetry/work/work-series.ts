/** Series of tenants, pools and operators: gauges, and the counters of whole tenants. */
import type { LiveWork, PoolSize, WorkSnapshot } from '../../db/work/read-work.ts';
import { isWorkMetric } from './work-metrics.ts';
import type { WorkMetricName } from './work-metrics.ts';

/** `labels` are the values of the metric's labels, in their order. */
export type WorkSeries = { metric: WorkMetricName; labels: readonly string[]; value: number };

export function* generalSeries(snapshot: WorkSnapshot, openSlots: number): Generator<WorkSeries> {
  yield one('executor.open_slots', [], openSlots);
  const pools = snapshot.pools.map((pool) => usageOf(pool, snapshot.live));
  for (const { tenant, dags, importErrors, dagsWithRunningRuns } of snapshot.tenants) {
    const own = snapshot.live.filter((row) => row.tenant === tenant);
    const ownPools = pools.filter((pool) => pool.tenant === tenant);
    yield one('dagbag_size', [tenant], dags);
    yield one('dag_processing.import_errors', [tenant], importErrors);
    yield one('scheduler.dagruns.running', [tenant], dagsWithRunningRuns);
    yield one(
      'scheduler.tasks.starving',
      [tenant],
      sumOf(ownPools, ({ starving }) => starving),
    );
    yield one(
      'scheduler.tasks.executable',
      [tenant],
      sumOf(ownPools, ({ executable }) => executable),
    );
    yield one('executor.queued_tasks', [tenant], sumOf(inState(own, 'queued'), instances));
    yield one('executor.running_tasks', [tenant], sumOf(inState(own, 'running', 'restarting'), instances));
    yield one('triggers.running', [tenant], sumOf(inState(own, 'deferred'), instances));
    yield* countersOf(snapshot, tenant);
  }
  for (const { tenant, name, open, queued, running, deferred, scheduled, starving } of pools) {
    const values = {
      open_slots: open,
      queued_slots: queued,
      running_slots: running,
      deferred_slots: deferred,
      scheduled_slots: scheduled,
      starving_tasks: starving,
    };
    for (const [what, value] of Object.entries(values) as [keyof typeof values, number][])
      yield one(`pool.${what}`, [tenant, name], value);
  }
}

const one = (metric: WorkMetricName, labels: readonly string[], value: number): WorkSeries => ({
  metric,
  labels,
  value,
});

function usageOf({ tenant, name, slots: size, includesDeferred }: PoolSize, live: readonly LiveWork[]) {
  const own = live.filter((row) => row.tenant === tenant && row.pool === name);
  const queued = sumOf(inState(own, 'queued'), slots);
  const running = sumOf(inState(own, 'running', 'restarting'), slots);
  const deferred = sumOf(inState(own, 'deferred'), slots);
  const open = size < 0 ? Infinity : Math.max(0, size - queued - running - (includesDeferred ? deferred : 0));
  const waiting = inState(own, 'scheduled');
  const claimable = waiting.filter(({ isHeld }) => !isHeld);
  const ready = sumOf(claimable, instances);
  return {
    tenant,
    name,
    open,
    queued,
    running,
    deferred,
    scheduled: sumOf(waiting, slots),
    starving: open === 0 ? ready : 0,
    executable: open === 0 ? 0 : ready,
  };
}

const inState = (rows: readonly LiveWork[], ...states: readonly LiveWork['state'][]): LiveWork[] =>
  rows.filter(({ state }) => states.includes(state));
const instances = (row: LiveWork): number => row.instances;
const slots = (row: LiveWork): number => row.slots;
const sumOf = <Row>(rows: readonly Row[], value: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + value(row), 0);

/** Counters of a tenant start at 0, so that a rate exists before the first failure. */
function* countersOf({ ofTenants, changesOfTenants }: WorkSnapshot, tenant: string): Generator<WorkSeries> {
  const series = new Map<string, WorkSeries>();
  const add = (metric: WorkMetricName, label: string, count: number): void => {
    const labels = label === '' ? [tenant] : [tenant, label];
    const known = series.get(`${metric} ${label}`) ?? one(metric, labels, 0);
    series.set(`${metric} ${label}`, { ...known, value: known.value + count });
  };
  for (const metric of PLAIN) add(metric, '', 0);
  for (const [owner, metric, label, count] of [...ofTenants, ...changesOfTenants]) {
    if (owner !== tenant || !isWorkMetric(metric)) continue;
    add(metric, label, count);
    if (metric === 'operator_successes') add('ti_successes', '', count);
    if (metric === 'operator_failures') add('ti_failures', '', count);
  }
  yield* series.values();
}

const PLAIN: readonly WorkMetricName[] = [
  'ti_successes',
  'ti_failures',
  'task_instances_without_heartbeats_killed',
  'scheduler.tasks.killed_externally',
  'asset.updates',
  'asset.triggered_dagruns',
];
