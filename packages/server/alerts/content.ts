/**
 * The content of a message, from the diagnosis of the first failure. It is pure. The text has at most 600 characters:
 * what was most useful for repairing it comes first.
 */
import { FAILURE_CAUSES, isFailureCause } from '@svc/spec/failure-causes.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import type { AlertRow, SourceRow } from '../db/alerts/alerts.ts';
import type { Failure, Wait } from '../diagnosis/types.ts';
import { MAX_TEXT } from './message.ts';
import type { AlertMessage, MessageKind } from './message.ts';

export type ContentInput = {
  alert: AlertRow;
  kind: MessageKind;
  rule: string;
  dags: readonly SourceRow[];
  runId: string | null;
  failure: Failure | null;
  /** Why a stuck task waits. */
  wait: Wait<string> | null;
  baseUrl: string;
};

const MAX_TITLE = 160;
const MAX_LINE = 200;
const MAX_NAMED = 3;

const ADVICE: Record<string, string> = {
  late: 'look at the tab Why of the run, or at "svc runs why"',
  stuck: 'look at the page Fleet: add workers or slots for this queue',
  stale_schedule: 'look at its runs, which may have reached max_active_runs, and at the health of the scheduler',
};

export function messageOf(input: ContentInput): AlertMessage {
  const { alert, kind, rule, dags, runId } = input;
  return {
    alertId: alert.id,
    kind,
    rule,
    event: alert.event,
    title: cut(titleOf(input), MAX_TITLE),
    text: textOf(input),
    fields: fieldsOf(input),
    link: linkOf(input, runId),
    failures: alert.failures,
    dags: dags.slice(0, 20).map(({ dag_id: dagId }) => safeText(dagId)),
    cause: alert.cause,
    openedAt: alert.opened_at,
    reference: alert.reference,
  };
}

function titleOf({ alert, kind, dags }: ContentInput): string {
  const cause = causeText(alert);
  if (kind === 'over') return `Over: ${subjectOf(alert, dags)}${cause === '' ? '' : ` (${cause})`}`;
  if (alert.event === 'broken_file') return `DAG file ${safeText(alert.dag_id)} does not compile`;
  if (alert.event === 'channel_failed') return 'Alerts of another rule cannot be sent';
  const since = alert.failures > 1 ? ` since ${timeOf(alert.opened_at)}` : '';
  return `${subjectOf(alert, dags)}${since}: ${cause || 'the run failed without a failed task'}`;
}

const VERBS: Record<string, string> = {
  failed: 'failed',
  retried: 'failed and is tried again',
  lost_worker: 'lost its worker',
};

/** What time alone causes has no failures that it could count. */
const TIMED = new Set<string>(['late', 'stuck', 'stale_schedule']);

function subjectOfTime(alert: AlertRow, dags: readonly SourceRow[]): string {
  const tasks = dags.reduce((sum, dag) => sum + dag.tasks, 0);
  const dag = safeText(alert.dag_id);
  if (alert.event === 'stuck') {
    const place = dags.length > 1 ? `${dags.length} DAGs` : dag;
    return tasks > 1 ? `${tasks} tasks of ${place} are stuck` : `${safeText(alert.task_id)} of ${dag} is stuck`;
  }
  if (alert.event === 'late')
    return dags.length > 1 ? `Runs of ${dags.length} DAGs are late` : `A run of ${dag} is late`;
  return dags.length > 1 ? `The schedules of ${dags.length} DAGs are stale` : `The schedule of ${dag} is stale`;
}

/** `load of sales failed`, or `42 tasks of 9 DAGs failed`. */
function subjectOf(alert: AlertRow, dags: readonly SourceRow[]): string {
  if (alert.event === 'broken_file') return `DAG file ${safeText(alert.dag_id)}`;
  if (TIMED.has(alert.event)) return subjectOfTime(alert, dags);
  const verb = VERBS[alert.event] ?? alert.event;
  const tasks = dags.reduce((sum, dag) => sum + dag.tasks, 0);
  if (alert.failures <= 1 || (tasks <= 1 && alert.task_id === '')) {
    const task = alert.task_id === '' ? 'A run' : safeText(alert.task_id);
    return `${task} of ${safeText(alert.dag_id)} ${verb}`;
  }
  const place = dags.length === 1 ? safeText(alert.dag_id) : `${dags.length} DAGs`;
  return `${alert.failures} ${tasks === 1 ? 'tries' : 'tasks'} of ${place} ${verb}`;
}

const causeText = ({ cause, detail }: AlertRow): string => {
  const text = detail ?? (isFailureCause(cause) ? FAILURE_CAUSES[cause].text : cause);
  return safeText(text.split('\n').at(-1) ?? '', 120);
};

const timeOf = (moment: string): string => `${moment.slice(0, 10)} ${moment.slice(11, 16)} UTC`;

function textOf({ alert, kind, dags, failure, wait }: ContentInput): string {
  if (kind === 'over') {
    const from = timeOf(alert.opened_at);
    return `It lasted from ${from} to ${timeOf(alert.over_at ?? alert.last_at)}. ${TIMED.has(alert.event) ? '' : `${alert.failures} failures in all.`}`.trim();
  }
  if (alert.event === 'broken_file')
    return cut(
      (alert.detail ?? '')
        .trim()
        .split('\n')
        .slice(-6)
        .map((line) => safeText(line, MAX_LINE))
        .join('\n'),
      MAX_TEXT,
    );
  if (alert.event === 'channel_failed') return cut(`Rule ${safeText(alert.detail ?? '', 400)}`, MAX_TEXT);
  if (TIMED.has(alert.event)) {
    const waits = wait === null ? [] : [`waits: ${[wait.meaning, wait.detail ?? ''].filter(Boolean).join(': ')}`];
    const ends = wait === null ? [] : [`ends: ${wait.ends_with}`];
    const lines = [
      `${safeText(alert.dag_id, 100)} ${alert.detail ?? ''}`,
      ...waits,
      ...ends,
      `try: ${ADVICE[alert.event]}`,
    ];
    return cut([...lines.map((line) => cut(line, MAX_LINE)), ...affected(dags)].join('\n'), MAX_TEXT);
  }
  const lines = [...(failure === null ? [] : linesOf(failure)), ...affected(dags)];
  return cut(lines.join('\n'), MAX_TEXT);
}

/** The most useful facts first. Each is limited, so that the later ones have room. */
function linesOf(failure: Failure): string[] {
  const { cause, blocks, history, advice, log } = failure;
  const exception = cause?.exception;
  const meaning = cause === null ? [] : [`${cause.code}: ${cause.detail ?? cause.meaning}`];
  const place =
    exception?.file === null || exception === null || exception === undefined
      ? []
      : [`at ${exception.file}:${exception.line}${exception.code === null ? '' : `: ${exception.code}`}`];
  const exit = [cause?.exit_code, cause?.signal].some((value) => value !== null && value !== undefined)
    ? [`process: ${cause?.signal ?? `exit code ${cause?.exit_code}`}`]
    : [];
  // Marks of groups are no lines of the author.
  const last = log.lines.findLast((line) => !/::(end)?group::/.test(line));
  return [
    ...meaning.map((line) => cut(line, 160)),
    ...place.map((line) => cut(line, 90)),
    ...exit,
    ...(blocks && blocks.total > 0
      ? [cut(`blocks ${blocks.total}: ${blocks.task_ids.slice(0, MAX_NAMED).join(', ')}`, 80)]
      : []),
    ...(history === null ? [] : historyLine(history)),
    ...advice.slice(0, 1).map(({ text }) => cut(`try: ${text}`, 110)),
    ...(last === undefined || last.includes(cause?.detail ?? '\n') ? [] : [cut(`log: ${last}`, 100)]),
  ];
}

function historyLine(history: NonNullable<Failure['history']>): string[] {
  const version = history.first_failure.version;
  const author = version?.author ? ` by ${version.author}` : '';
  const commit = version?.bundle_version ? ` (commit ${version.bundle_version.slice(0, 12)}${author})` : '';
  if (history.since_version !== null) return [`first failure since version ${history.since_version}${commit}`];
  if (history.failed_before > 0) return [`failed ${history.failed_before + 1} times in a row`];
  return history.runs_compared === 0 ? [] : ['first failure after a success'];
}

const affected = (dags: readonly SourceRow[]): string[] =>
  dags.length < 2
    ? []
    : [
        cut(
          `DAGs: ${dags
            .slice(0, 5)
            .map((dag) => `${safeText(dag.dag_id, 60)} (${dag.failures})`)
            .join(', ')}${dags.length > 5 ? ` and ${dags.length - 5} more` : ''}`,
          160,
        ),
      ];

function fieldsOf({ alert, failure, runId, rule }: ContentInput): AlertMessage['fields'] {
  const fields: [string, string | null][] = [
    ['rule', rule],
    ['dag', alert.dag_id === '' || alert.event === 'broken_file' ? null : alert.dag_id],
    ['run', runId],
    ['task', alert.task_id === '' ? null : `${alert.task_id}${alert.map_index >= 0 ? `[${alert.map_index}]` : ''}`],
    ['try', alert.try_number > 0 ? String(alert.try_number) : null],
    ['version', failure === null ? null : String(failure.version_number)],
    ['failures', String(alert.failures)],
  ];
  return fields.flatMap(([name, value]) => (value === null ? [] : [{ name, value: safeText(value, MAX_LINE) }]));
}

/** Null without `server.base_url`, because a path alone leads nowhere. */
function linkOf({ alert, baseUrl }: ContentInput, runId: string | null): string | null {
  if (baseUrl === '') return null;
  const base = baseUrl.replace(/\/$/, '');
  if (alert.event === 'broken_file' || alert.dag_id === '') return base;
  const dag = `${base}/dags/${encodeURIComponent(alert.dag_id)}`;
  if (runId === null) return dag;
  const run = `${dag}/runs/${encodeURIComponent(runId)}`;
  return alert.task_id === '' ? run : `${run}/tasks/${encodeURIComponent(alert.task_id)}`;
}

const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).trimEnd()}…`.toWellFormed();
