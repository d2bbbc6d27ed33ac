/** The text of the metrics of work for a scrape. */
import type { WorkSnapshot } from '../../db/work/read-work.ts';
import { COUNTERS, DURATIONS, WORK_COLUMNS } from '../../db/work/work-columns.ts';
import { LEFT_OUT, SERVES_WORK, TASK_LABELS, WORK_METRICS, definitionOf, prometheusName } from './work-metrics.ts';
import type { WorkMetricName } from './work-metrics.ts';
import { generalSeries } from './work-series.ts';

/** Scrapes within this time share a read. */
const KEPT_MS = 2_000;
const QUANTILES = ['0.5', '0.9', '0.99'];

/**
 * Returns a function that gives the text of a scrape. `read` gives null while another process serves the metrics of
 * work. While the database is unreachable the text is empty, and another metric shows the outage.
 */
export function createWorkExposition(options: {
  read: () => Promise<{ snapshot: WorkSnapshot; openSlots: number } | null>;
  maxSeries: number;
}): () => Promise<string> {
  const { read, maxSeries } = options;
  let kept: { text: Promise<string>; at: number } | undefined;
  const render = async (): Promise<string> => {
    const found = await read();
    const served = gaugeText(SERVES_WORK, '1 in the process that serves the metrics of work.', found === null ? 0 : 1);
    if (found === null) return served;
    return served + renderWork(found.snapshot, { openSlots: found.openSlots, maxSeries });
  };
  return () => {
    if (!kept || performance.now() - kept.at > KEPT_MS) {
      kept = { text: render().catch(() => ''), at: performance.now() };
    }
    return kept.text;
  };
}

/**
 * The series of tenants, pools and operators come first, then those of DAGs in the order of the totals. A DAG has all
 * of its series or none, and the same DAGs are left out each time.
 */
export function renderWork(snapshot: WorkSnapshot, { openSlots, maxSeries }: WorkLimits): string {
  const lines = new Map<WorkMetricName, string[]>(NAMES.map((metric) => [metric, []]));
  const push = (metric: WorkMetricName, line: string): void => void lines.get(metric)?.push(line);
  let room = maxSeries;
  let leftOut = 0;
  for (const { metric, labels, value } of generalSeries(snapshot, openSlots)) {
    const text = labelsText(definitionOf(metric).labels, labels);
    push(metric, `${PROMETHEUS_NAMES[metric]}${text === '' ? '' : `{${text}}`} ${numberText(value)}`);
    room -= 1;
  }
  let isFull = false;
  for (const row of dagsOf(snapshot)) {
    const own = countLines(row);
    isFull ||= own > room;
    if (isFull) leftOut += own;
    else {
      pushRow(row, lines);
      room -= own;
    }
  }
  // What the database has not sent was never rendered, so its series are estimated by those of the others.
  leftOut += (snapshot.allDags - snapshot.dags.length) * SERIES_OF_A_ROW;
  let text = gaugeText(LEFT_OUT, 'Series of work that metrics.max_series has left out.', leftOut);
  for (const [metric, own] of lines) {
    if (own.length === 0) continue;
    const { type, help } = definitionOf(metric);
    const name = PROMETHEUS_NAMES[metric];
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${own.join('\n')}\n`;
  }
  return text;
}

export type WorkLimits = { openSlots: number; maxSeries: number };

const NAMES = Object.keys(WORK_METRICS) as WorkMetricName[];
const PROMETHEUS_NAMES = Object.fromEntries(NAMES.map((name) => [name, prometheusName(name)])) as Record<
  WorkMetricName,
  string
>;
/** Of a DAG whose tasks and runs have succeeded and failed. */
const SERIES_OF_A_ROW = 26;

const gaugeText = (name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`;

/** What is known of a DAG, or of one of its tasks. */
type DagRow = {
  names: readonly [tenant: string, dagId: string, taskId: string];
  /** In the order of the columns of the totals. */
  numbers: number[];
  running: Map<string, number>;
  quantiles: Partial<Record<'success' | 'failed', readonly number[]>>;
};

function dagsOf({ dags, changesOfDags, live, recentRuns }: WorkSnapshot): Iterable<DagRow> {
  const rows = new Map<string, DagRow>();
  const find = (tenant: string, dagId: string, taskId: string, numbers?: number[]): DagRow => {
    const key = `${tenant}\n${dagId}\n${taskId}`;
    let row = rows.get(key);
    if (!row) {
      row = { names: [tenant, dagId, taskId], numbers: numbers ?? NOTHING.slice(), running: new Map(), quantiles: {} };
      rows.set(key, row);
    }
    return row;
  };
  for (const [tenant, dagId, taskId, ...numbers] of dags) find(tenant, dagId, taskId, numbers);
  for (const [tenant, dagId, taskId, ...numbers] of changesOfDags) {
    find(tenant, dagId, '');
    const row = find(tenant, dagId, taskId);
    row.numbers = row.numbers.map((number, index) => number + (numbers[index] ?? 0));
  }
  for (const { tenant, dagId, taskId, queue, state, instances } of live) {
    if (state !== 'running') continue;
    find(tenant, dagId, '');
    const { numbers, running } = find(tenant, dagId, taskId);
    // An attempt that runs has started. Its fact comes with its end.
    numbers[STARTED] = (numbers[STARTED] ?? 0) + instances;
    running.set(queue, (running.get(queue) ?? 0) + instances);
  }
  for (const { tenant, dagId, state, quantiles } of recentRuns) find(tenant, dagId, '').quantiles[state] = quantiles;
  return rows.values();
}

const NOTHING = WORK_COLUMNS.map(() => 0);
const STARTED = WORK_COLUMNS.indexOf('started');
const COUNTER_LINES = COUNTERS.map(({ column, metric, state }) => ({
  at: WORK_COLUMNS.indexOf(column),
  metric,
  name: PROMETHEUS_NAMES[metric],
  more: state === '' ? '' : `,state="${state}"`,
  isAlways: state === 'success' || state === 'failed',
}));
const RUN_STATES: Partial<Record<string, 'success' | 'failed'>> = {
  'dagrun.duration.success': 'success',
  'dagrun.duration.failed': 'failed',
};
const DURATION_LINES = DURATIONS.map(({ column, metric }) => ({
  at: WORK_COLUMNS.indexOf(`${column}_count`),
  metric,
  name: PROMETHEUS_NAMES[metric],
  runState: RUN_STATES[metric],
}));

/**
 * A number that is still 0 has no series, except those that alerts are about: without a series that begins at 0, the
 * first failure is no increase.
 */
const hasCounter = ({ numbers }: DagRow, { at, isAlways }: (typeof COUNTER_LINES)[number]): boolean =>
  Boolean(numbers[at]) || (isAlways && Boolean(numbers[STARTED]));
const hasDuration = ({ names, numbers }: DagRow, { at, runState }: (typeof DURATION_LINES)[number]): boolean =>
  Boolean(numbers[at]) || (runState !== undefined && names[2] === '');

function countLines(row: DagRow): number {
  let lines = row.running.size;
  for (const counter of COUNTER_LINES) if (hasCounter(row, counter)) lines += 1;
  for (const duration of DURATION_LINES) {
    if (hasDuration(row, duration)) lines += 2 + (recentOf(row, duration.runState)?.length ?? 0);
  }
  return lines;
}

const recentOf = ({ quantiles }: DagRow, state: 'success' | 'failed' | undefined): readonly number[] | undefined =>
  state && quantiles[state];

function pushRow(row: DagRow, lines: Map<WorkMetricName, string[]>): void {
  const { names, numbers, running } = row;
  const labels = labelsText(TASK_LABELS, names);
  for (const counter of COUNTER_LINES) {
    const { at, metric, name, more } = counter;
    if (hasCounter(row, counter)) lines.get(metric)?.push(`${name}{${labels}${more}} ${numbers[at]}`);
  }
  for (const [queue, value] of running) {
    lines.get('ti.running')?.push(`${PROMETHEUS_NAMES['ti.running']}{${labels},queue="${escaped(queue)}"} ${value}`);
  }
  for (const duration of DURATION_LINES) {
    const { at, metric, name, runState } = duration;
    if (!hasDuration(row, duration)) continue;
    const own = lines.get(metric);
    recentOf(row, runState)?.forEach((value, index) => {
      own?.push(`${name}{${labels},quantile="${QUANTILES[index]}"} ${value}`);
    });
    own?.push(`${name}_sum{${labels}} ${numbers[at + 1]}`, `${name}_count{${labels}} ${numbers[at]}`);
  }
}

const numberText = (value: number): string => (value === Infinity ? '+Inf' : String(value));

/** A label without a value is the same as no label. */
function labelsText(names: readonly string[], values: readonly string[]): string {
  let text = '';
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? '';
    if (value !== '') text += `${text === '' ? '' : ','}${names[index]}="${escaped(value)}"`;
  }
  return text;
}

const escaped = (value: string): string =>
  /["\\\n]/.test(value)
    ? value
        .replaceAll('\\', String.raw`\\`)
        .replaceAll('"', String.raw`\"`)
        .replaceAll('\n', String.raw`\n`)
    : value;
