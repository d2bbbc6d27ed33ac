// The page Fleet: components, queues, pools, workers, and what has run for longest, refreshed while it is visible.
/** @import { Delays, Fleet, Pool, Worker } from './answers.d.ts' */
/** @import { Health } from '../browser.d.ts' */
import { element } from '../editor/dom.js';
import { call, keepShowing, taskPath, uiLink } from './frame.js';
import { chip, duration, quiet, section, table, tiles, time } from './parts.js';

const PAUSE_MS = 5_000;
const MOST_ROWS = 100;
/** @type {(readonly [keyof Health, string])[]} */
const COMPONENTS = [
  ['scheduler', 'Scheduler'],
  ['triggerer', 'Triggerer'],
  ['dag_processor', 'DAG processor'],
  ['metadatabase', 'Database'],
];

/** @param {Delays} delays */
const delayText = ({ p50, p95 }) => (p50 === null || p95 === null ? 'none' : `${duration(p50)} / ${duration(p95)}`);

/** @param {number} slots */
const slotText = (slots) => (slots < 0 ? 'no limit' : String(slots));

/** @param {Fleet} fleet @param {readonly Worker[]} workers */
function tilesOf({ queues, task_delay: task, run_delay: run, delay_minutes: minutes }, workers) {
  const live = workers.filter(({ state }) => state === 'idle' || state === 'busy');
  /** @param {(queue: Fleet['queues'][number]) => number} of */
  const sum = (of) => String(queues.reduce((total, queue) => total + of(queue), 0));
  const used = live.reduce((total, { running }) => total + running, 0);
  const slots = live.reduce((total, worker) => total + worker.slots, 0);
  return tiles(
    ['Running tasks', sum(({ running }) => running)],
    ['Waiting tasks', sum(({ queued, scheduled }) => queued + scheduled), 'Scheduled or queued'],
    ['Deferred tasks', sum(({ deferred }) => deferred), 'They use no process'],
    ['Slots of workers', `${used} / ${slots}`, 'Used, and in all'],
    ['Task delay', delayText(task), `Median / 95 %, of ${task.count} starts in the last ${minutes} minutes`],
    ['Run delay', delayText(run), `Median / 95 %, of ${run.count} scheduled runs in the last ${minutes} minutes`],
  );
}

/** @param {Health} health */
const componentsOf = (health) =>
  element(
    'div',
    { className: 'row', role: 'group', 'aria-label': 'Components' },
    ...COMPONENTS.flatMap(([key, name]) => {
      const { status } = health[key];
      return status === null ? [] : [element('span', {}, `${name} `, chip(status))];
    }),
  );

/** @param {Fleet['queues']} queues */
const queuesSection = (queues) =>
  section(
    'Queues',
    queues.length === 0
      ? quiet('No task runs or waits.')
      : table(
          'Queues',
          ['Queue', 'Running', 'Queued', 'Scheduled', 'Deferred', 'Oldest wait'],
          queues.map((one) => [
            one.queue,
            String(one.running),
            String(one.queued),
            String(one.scheduled),
            String(one.deferred),
            time(one.waiting_since, 'none'),
          ]),
        ),
  );

/** @param {readonly Pool[]} pools @param {number} total */
const poolsSection = (pools, total) =>
  section(
    'Pools',
    table(
      'Pools',
      ['Pool', 'Slots', 'Used', 'Running', 'Queued', 'Waiting', 'Deferred', 'Open'],
      pools.map((one) => [
        one.name,
        slotText(one.slots),
        String(one.occupied_slots),
        String(one.running_slots),
        String(one.queued_slots),
        String(one.scheduled_slots),
        String(one.deferred_slots),
        slotText(one.open_slots),
      ]),
    ),
    total > pools.length ? quiet(`${pools.length} of ${total} pools are shown.`) : undefined,
  );

/** @param {readonly Worker[]} workers @param {number} total */
const workersSection = (workers, total) =>
  section(
    'Workers and warm pods',
    workers.length === 0
      ? quiet('There is no worker. Tasks run in a pod each.')
      : table(
          'Workers',
          ['Worker', 'State', 'Kind', 'Serves', 'Slots used', 'Tasks served', 'Up since', 'Last seen'],
          workers.map((one) => [
            element('span', { title: one.hostname, textContent: one.name }),
            element('span', {}, chip(one.state), one.ended_why ? quiet(one.ended_why) : ''),
            one.kind,
            one.queues.length > 0 ? one.queues.join(', ') : (one.dag_id ?? one.pool),
            `${one.running} / ${one.slots}`,
            String(one.attempts_served),
            time(one.started_at),
            time(one.last_seen_at),
          ]),
        ),
    total > workers.length ? quiet(`${workers.length} of ${total} workers are shown.`) : undefined,
  );

/** @param {Fleet['running']} running */
const runningSection = (running) =>
  section(
    'Running for longest',
    running.length === 0
      ? quiet('No task runs.')
      : table(
          'Running tasks',
          ['Task', 'DAG', 'Queue', 'Host or pod', 'Started'],
          running.map((one) => [
            uiLink(taskPath(one.dag_id, one.dag_run_id, one.task_id, one.map_index), one.task_id),
            one.dag_id,
            one.queue,
            one.hostname,
            time(one.start_date),
          ]),
        ),
  );

async function look() {
  /** @type {[Fleet, { pools: Pool[], total_entries: number }, { workers: Worker[], total_entries: number }, Health]} */
  const [fleet, { pools, total_entries: poolCount }, { workers, total_entries: workerCount }, health] =
    await Promise.all([
      call('GET', 'ui/fleet'),
      call('GET', `api/v2/pools?limit=${MOST_ROWS}`),
      call('GET', `api/v2/workers?limit=${MOST_ROWS}`),
      call('GET', 'api/v2/monitor/health'),
    ]);
  const parts = [
    element('header', { className: 'row' }, element('h1', { textContent: 'Fleet' }), componentsOf(health)),
    section('Now', tilesOf(fleet, workers)),
    queuesSection(fleet.queues),
    poolsSection(pools, poolCount),
    workersSection(workers, workerCount),
    runningSection(fleet.running),
  ];
  return { parts, pauseMs: PAUSE_MS };
}

keepShowing(look);
