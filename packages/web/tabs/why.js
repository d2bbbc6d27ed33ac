// The page Why of a run or a task: what failed and why, what waits and for what, and the button to clear it.
/** @import { InstanceDiagnosis, PoolWait, RunDiagnosis, Wait, Waiting } from './answers.d.ts' */
import { element } from '../editor/dom.js';
import { clearControl, isAsking } from './clear.js';
import { failureCard } from './failure.js';
import { call, keepShowing, parameter, taskPath, uiLink } from './frame.js';
import { chip, counted, lines, quiet, section, table, time } from './parts.js';

const LIVE_MS = 5_000;
/** A finished run changes only when a user clears or marks it. */
const FINISHED_MS = 30_000;

const dagId = parameter('dag_id') ?? '';
const runId = parameter('run_id') ?? '';
const taskId = parameter('task_id');
const mapIndex = Number(parameter('map_index') ?? -1);
const run = { dagId, runId };
const path = `api/v2/dags/${encodeURIComponent(dagId)}/dagRuns/${encodeURIComponent(runId)}`;

/** @param {string} state */
const isFinished = (state) => state === 'success' || state === 'failed';

/** @param {string | null} state @param {string} text @param {HTMLElement | undefined} action */
const heading = (state, text, action) =>
  element(
    'header',
    { className: 'row' },
    chip(state ?? 'none'),
    element('h1', { textContent: text }),
    ...(action ? [action] : []),
  );

/** @param {Wait} wait @returns {(Node | string)[]} */
const waitText = ({ meaning, detail }) => [meaning, detail ? ` (${detail})` : ''];

/** @param {readonly Waiting[]} waiting */
function waitsSection(waiting) {
  const rows = waiting.map(({ task_id: id, map_index: index, state, wait, trigger }) => [
    uiLink(taskPath(dagId, runId, id, index), index < 0 ? id : `${id}[${index}]`, `wait ${id} ${index}`),
    chip(state ?? 'none'),
    element('span', {}, ...(wait ? waitText(wait) : ['It runs.']), trigger ? ` ${trigger.class_path}` : ''),
    wait ? element('span', {}, wait.ends_with, ...(wait.until ? [' ', time(wait.until)] : [])) : '',
  ]);
  return section('What waits', table('Waiting tasks', ['Task', 'State', 'Why', 'What ends the wait'], rows));
}

/** @param {PoolWait} pool */
const poolSection = (pool) =>
  section(
    `Pool ${pool.name}`,
    quiet(pool.slots === null ? 'The pool does not exist.' : `${pool.occupied} of ${pool.slots} slots are in use.`),
    table(
      `Tasks with slots of ${pool.name}`,
      ['Task with a slot', 'DAG', 'Since'],
      pool.held_by.map((one) => [
        uiLink(taskPath(one.dag_id, one.run_id, one.task_id, one.map_index), one.task_id),
        one.dag_id,
        time(one.since),
      ]),
    ),
  );

async function lookAtRun() {
  /** @type {RunDiagnosis} */
  const found = await call('GET', `${path}/diagnosis`);
  const { counts, failures, failures_not_shown: notShown, run_wait: runWait, history } = found;
  const broken = counts.failed + counts.upstream_failed;
  const parts = [
    heading(found.state, summaryOf(found), broken > 0 ? clearControl(run, () => void now()) : undefined),
    runWait ? element('p', { className: 'card' }, ...waitText(runWait), `. ${runWait.ends_with}`) : undefined,
    found.state === 'failed' && history.failed_before > 0
      ? quiet(`${counted(history.failed_before, 'run')} before this one failed, too.`)
      : undefined,
    ...(failures.length > 0 ? [section('What failed', ...failures.map((one) => failureCard(run, one)))] : []),
    notShown > 0 ? quiet(`${counted(notShown, 'further failure is', 'further failures are')} not shown.`) : undefined,
    ...(found.waiting.length > 0 ? [waitsSection(found.waiting)] : []),
    ...found.pools.map(poolSection),
    ...(found.skipped.length > 0
      ? [
          section(
            'What was skipped',
            table(
              'Skipped tasks',
              ['Task', 'Why'],
              found.skipped.map(({ task_id: id, why }) => [id, why]),
            ),
          ),
        ]
      : []),
  ];
  return { parts, pauseMs: isFinished(found.state) ? FINISHED_MS : LIVE_MS };
}

/** @param {RunDiagnosis} found */
function summaryOf({ state, counts, failures, waiting, run_wait: runWait }) {
  const blocked = counts.upstream_failed;
  if (counts.failed > 0)
    return `${counts.failed} of ${counted(counts.total, 'task')} failed${blocked > 0 ? `, ${blocked} could not run` : ''}`;
  if (failures.length > 0) return `${counted(failures.length, 'task')} failed and will be tried again`;
  if (state === 'failed') return 'The run failed without a failed task';
  if (runWait) return 'The run waits';
  if (waiting.length > 0) return `${counted(counts.active, 'task is', 'tasks are')} under way`;
  return state === 'success' ? 'Nothing failed' : 'Nothing failed, and nothing waits';
}

/** @param {string} id */
async function lookAtTask(id) {
  /** @type {InstanceDiagnosis} */
  const found = await call('GET', `${path}/taskInstances/${encodeURIComponent(id)}/diagnosis?map_index=${mapIndex}`);
  const { state, failure, waiting } = found;
  const canClear = state === 'failed' || state === 'upstream_failed';
  const text = failure
    ? 'Why this task failed'
    : waiting
      ? waiting.wait
        ? 'Why this task waits'
        : 'This task runs'
      : state === 'upstream_failed'
        ? 'This task could not run, because a task before it failed'
        : 'Nothing is wrong with this task';
  const control = canClear ? clearControl({ ...run, task: { id, mapIndex } }, () => void now()) : undefined;
  const parts = [
    heading(state, text, control),
    ...(failure ? [failureCard(run, failure)] : []),
    ...(waiting ? [waitsSection([waiting])] : []),
    ...(waiting && waiting.last_lines.length > 0 ? [section('Last lines', lines(waiting.last_lines, 'Log'))] : []),
    ...found.pools.map(poolSection),
    state === 'upstream_failed'
      ? element(
          'p',
          {},
          uiLink(
            `dags/${encodeURIComponent(dagId)}/runs/${encodeURIComponent(runId)}/plugin/why`,
            'See what failed in this run',
          ),
        )
      : undefined,
  ];
  return { parts, pauseMs: state !== null && (isFinished(state) || state === 'skipped') ? FINISHED_MS : LIVE_MS };
}

const now = keepShowing(taskId === undefined ? lookAtRun : () => lookAtTask(taskId), isAsking);
