/**
 * Renders a diagnosis as compact text. Untrusted text is in quotes or in a marked quotation, never on a line of its
 * own.
 */
import { nameOf } from '../diagnosis/summary.ts';
import { quoteUntrusted } from '../text/untrusted.ts';
import { historyLines, importErrorLines, poolLines, scheduleLines, skippedLines } from './diagnose-run-around-text.ts';
import type { DiagnoseRunOutput, FailureOutput } from './diagnose-run-shapes.ts';

export function diagnosisText(output: DiagnoseRunOutput): string {
  return [
    output.summary,
    ...(output.run_id === null ? [] : [timing(output)]),
    ...scheduleLines(output),
    ...historyLines(output),
    ...output.failures.map(failureText),
    ...(output.failures_not_shown > 0 ? [`${output.failures_not_shown} more failures are not shown.`] : []),
    ...retriedLines(output),
    ...skippedLines(output),
    ...modelLines(output),
    ...waitingLines(output),
    ...poolLines(output),
    ...importErrorLines(output),
  ].join('\n');
}

function timing({
  run_type: type,
  start_date: start,
  end_date: end,
  duration_seconds: duration,
}: DiagnoseRunOutput): string {
  const took = duration === null ? '' : ` (${round(duration)} s)`;
  return `Type ${type}, started ${start ?? 'not yet'}, ended ${end ?? 'not yet'}${took}.`;
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10;

function failureText(failure: FailureOutput): string {
  const { try_number: tries, retries_left: left, blocks, log, instances } = failure;
  const retry = failure.will_retry
    ? `will be tried again${failure.next_try_at === null ? '' : ` at ${failure.next_try_at}`}, ${left} retries left`
    : `${left} retries left, not tried again`;
  const cause = failure.cause === null ? 'cause not known' : `cause ${failure.cause}: ${failure.cause_meaning}`;
  const facts = [`state ${failure.state}, try ${tries}, ${retry}; ${cause}`];
  if (instances !== null) facts.push(`${instances.failed} of ${instances.total} instances of the mapped task failed`);
  facts.push(...errorFacts(failure));
  for (const earlier of failure.failed_tries) facts.push(tryText(earlier));
  if (failure.rendered_fields !== null) facts.push(`told to do (untrusted): ${failure.rendered_fields}`);
  facts.push(blocksText(blocks));
  for (const one of failure.upstream) facts.push(upstreamText(one));
  const head = `\nFailed task ${nameOf(failure)} (${failure.operator ?? 'operator not known'}): ${facts.join('\n  ')}`;
  const earlier =
    log.earlier_errors.length === 0
      ? ''
      : `\n${quoteUntrusted(`earlier lines of the log of ${nameOf(failure)} that complain`, log.earlier_errors)}`;
  if (log.lines.length === 0) return `${head}\n  log: ${log.note ?? 'left out, because the answer would be too long'}`;
  return `${head}${earlier}\n${quoteUntrusted(`log of ${nameOf(failure)}, try ${tries}, last ${log.lines.length} lines`, log.lines)}`;
}

/** Usually the reason and the exception are equal, so text of the log is not repeated here. */
function errorFacts({ failure_detail: detail, error }: FailureOutput): string[] {
  const facts = detail === null ? [] : [`detail (untrusted): ${JSON.stringify(detail)}`];
  if (error === null) return facts;
  if (detail === null || !detail.includes(error.message.split('\n')[0] ?? '')) facts.push(raisedText('error', error));
  else if (error.at !== null) facts.push(`raised at (untrusted): ${placeText(error)}`);
  if (error.root_cause !== null) facts.push(raisedText('root cause', error.root_cause));
  return facts;
}

type Raised = Omit<NonNullable<FailureOutput['error']>, 'root_cause'>;

const raisedText = (what: string, raised: Raised): string =>
  `${what} (untrusted): ${JSON.stringify(`${raised.type}: ${raised.message}`)}${raised.at === null ? '' : ` at ${placeText(raised)}`}`;

const placeText = ({ at, code }: Raised): string =>
  `${JSON.stringify(at)}${code === null ? '' : `, line ${JSON.stringify(code)}`}`;

const tryText = (failed: FailureOutput['failed_tries'][number]): string => {
  const when = failed.end_date === null ? '' : ` at ${failed.end_date}`;
  const detail = failed.failure_detail === null ? '' : `, detail (untrusted): ${JSON.stringify(failed.failure_detail)}`;
  return `try ${failed.try_number} failed${when}: ${failed.failure_reason ?? 'cause not known'}${detail}`;
};

function upstreamText({ task_id: id, state, last_lines: lines }: FailureOutput['upstream'][number]): string {
  const said = lines.length === 0 ? '' : `, its last lines (untrusted): ${JSON.stringify(lines.join('\n'))}`;
  return `before it: ${id} (${state ?? 'no state'})${said}`;
}

function blocksText({ total, task_ids: ids, note }: FailureOutput['blocks']): string {
  if (total === null) return `blocked tasks are not known: ${note}`;
  if (total === 0) return 'blocks no other task';
  const rest = total - ids.length;
  return `blocks ${total} downstream: ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function retriedLines({ retried }: DiagnoseRunOutput): string[] {
  if (retried.length === 0) return [];
  const lines = retried.map(
    (one) => `- ${nameOf(one)}: succeeded at try ${one.try_number}; ${one.failed_tries.map(tryText).join('; ')}`,
  );
  return ['', 'Succeeded after failed tries:', ...lines];
}

function modelLines({ models }: DiagnoseRunOutput): string[] {
  if (models.length === 0) return [];
  const lines = models.map(({ name, kind, path, seen_in: seenIn, task_ids: ids }) => {
    const what = seenIn === 'log' ? 'failed according to the log' : 'selected by the task';
    return `- ${kind ?? 'model'} ${name}${path === null ? '' : ` (${path})`}: ${what} of ${ids.join(', ')}`;
  });
  return ['', 'Transformation models involved:', ...lines];
}

function waitingLines({ waiting, counts, state }: DiagnoseRunOutput): string[] {
  if (waiting.length === 0 || state === 'success' || state === 'failed') return [];
  const lines = waiting.map((one) => {
    const reason = one.wait_reason === null ? '' : `, ${JSON.stringify(one.wait_reason)}`;
    const trigger = one.trigger === null ? '' : `, waits for ${one.trigger.class_path} since ${one.trigger.since}`;
    const said =
      one.last_lines.length === 0 ? '' : `, its last lines (untrusted): ${JSON.stringify(one.last_lines.join('\n'))}`;
    return `- ${nameOf(one)}: ${one.state ?? 'no state yet'}${trigger}${reason}${said}`;
  });
  const total = counts.active + counts.waiting;
  const rest = total - waiting.length;
  return ['', 'Not finished:', ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])];
}
