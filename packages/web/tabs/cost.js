// The page Cost: what the tasks of a DAG have used and cost in the last days, with advice, or the tries of one task.
/** @import { Amounts, Cost, CostAdvice, CostWait, Usage } from './answers.d.ts' */
import { element } from '../editor/dom.js';
import { actionButton, call, keepShowing, parameter } from './frame.js';
import { chip, duration, quiet, section, table, tiles } from './parts.js';

const PAUSE_MS = 60_000;
const MOST_ROWS = 200;
const DAY_MS = 86_400_000;
const PERIODS = [1, 7, 30, 90];
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const WAITS_SHOWN = 4;
const LEAST_SHOWN = 0.0001;

const dagId = parameter('dag_id') ?? '';
const runId = parameter('run_id') ?? '';
const taskId = parameter('task_id');
const mapIndex = Number(parameter('map_index') ?? -1);
const dagPath = `api/v2/dags/${encodeURIComponent(dagId)}`;

const shown = { days: 7 };

/** @param {number | null} count */
function bytes(count) {
  if (count === null) return '';
  const power = Math.min(UNITS.length - 1, count < 1 ? 0 : Math.floor(Math.log2(count) / 10));
  const value = count / 1_024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`;
}

/** @param {number | null} seconds */
const time = (seconds) => (seconds === null ? '' : duration(seconds));

/** @param {number | null} cost @param {string | null} currency */
function money(cost, currency) {
  if (cost === null) return 'no prices';
  const amount = cost > 0 && cost < LEAST_SHOWN ? `< ${LEAST_SHOWN}` : cost.toFixed(cost < 1 ? 4 : 2);
  return `${amount} ${currency ?? ''}`;
}

/** @param {Amounts} total @param {string | null} currency */
const totals = (total, currency) =>
  tiles(
    ['Cost', money(total.cost, currency), 'By the prices of the configuration'],
    ['Processor time', time(total.cpu_seconds)],
    ['Memory', `${(total.gib_seconds / 3_600).toFixed(2)} GiB h`, 'The peak of each attempt, times its time'],
    ['Time of tasks', time(total.seconds)],
    ['Tries', String(total.tries)],
    ['Read / written', `${bytes(total.read_bytes)} / ${bytes(total.written_bytes)}`],
  );

/** @param {readonly CostWait[]} waits */
const waitsText = (waits) =>
  waits
    .slice(0, WAITS_SHOWN)
    .map(({ meaning, seconds }) => `${meaning}: ${time(seconds)}`)
    .join('; ');

const periods = () =>
  element(
    'div',
    { className: 'row', role: 'group', 'aria-label': 'Period' },
    ...PERIODS.map((days) => {
      const choose = async () => {
        shown.days = days;
        await now();
      };
      const button = actionButton(days === 1 ? '1 day' : `${days} days`, choose, { key: `days ${days}` });
      button.ariaPressed = String(shown.days === days);
      return button;
    }),
  );

/** @param {CostAdvice['tasks']} tasks */
function adviceSection(tasks) {
  const advised = tasks.filter(({ advice }) => advice.length > 0);
  if (advised.length === 0) return section('Advice', quiet('The last 30 runs give no reason for a change.'));
  const rows = advised.map((task) => [
    task.task_id,
    element('ul', {}, ...task.advice.map(({ text }) => element('li', { textContent: text }))),
    [task.requested.cpu, task.requested.memory].filter((one) => one !== null).join(', ') || 'nothing',
    `${task.suitable.cpu}, ${task.suitable.memory}`,
  ]);
  return section('Advice', table('Advice', ['Task', 'What the last 30 runs show', 'Requested', 'Suitable'], rows));
}

async function lookAtDag() {
  const since = new Date(Date.now() - shown.days * DAY_MS).toISOString().slice(0, 10);
  const only = `since=${since}&dag_id=${encodeURIComponent(dagId)}`;
  /** @type {[Cost, Cost, CostAdvice]} */
  const [byTask, byDag, advice] = await Promise.all([
    call('GET', `api/v2/cost?by=task&${only}&limit=${MOST_ROWS}`),
    call('GET', `api/v2/cost?by=dag&${only}&limit=1`),
    call('GET', `${dagPath}/costAdvice`),
  ]);
  const { groups, currency, total, total_entries: entries } = byTask;
  const waits = byDag.groups[0]?.waits ?? [];
  const rows = groups.map((group) => [
    group.key.startsWith(`${dagId}.`) ? group.key.slice(dagId.length + 1) : group.key,
    money(group.cost, currency),
    time(group.cpu_seconds),
    bytes(group.memory_bytes),
    time(group.seconds),
    String(group.tries),
    `${bytes(group.read_bytes)} / ${bytes(group.written_bytes)}`,
  ]);
  const headers = ['Task', 'Cost', 'Processor time', 'Memory peak', 'Time', 'Tries', 'Read / written'];
  const parts = [
    element('header', { className: 'row' }, element('h1', { textContent: 'Cost' }), periods()),
    totals(total, currency),
    section('By task', rows.length === 0 ? quiet('No try ended in this period.') : table('Tasks', headers, rows)),
    entries > groups.length ? quiet(`The most expensive ${groups.length} of ${entries} tasks are shown.`) : undefined,
    waits.length > 0 ? section('Time spent waiting', quiet(waitsText(waits))) : undefined,
    adviceSection(advice.tasks),
    total.cost === null ? quiet('Prices are set in the configuration, under cost.') : undefined,
  ];
  return { parts, pauseMs: PAUSE_MS };
}

/** @param {string} id */
async function lookAtTask(id) {
  const path = `${dagPath}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${encodeURIComponent(id)}`;
  /** @type {Usage} */
  const { tries, currency } = await call('GET', `${path}/usage?map_index=${mapIndex}`);
  const rows = tries.map((one) => [
    String(one.try_number),
    chip(one.state ?? 'none'),
    money(one.cost, currency),
    time(one.cpu_seconds),
    bytes(one.memory_bytes),
    time(one.seconds),
    `${bytes(one.read_bytes)} / ${bytes(one.written_bytes)}`,
    waitsText(one.waits),
  ]);
  const headers = ['Try', 'State', 'Cost', 'Processor time', 'Memory peak', 'Time', 'Read / written', 'Waited'];
  const parts = [element('h1', { textContent: 'Cost' }), section('Tries', table('Tries', headers, rows))];
  return { parts, pauseMs: PAUSE_MS };
}

const now = keepShowing(taskId === undefined ? lookAtDag : () => lookAtTask(taskId));
