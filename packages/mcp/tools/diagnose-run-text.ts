/** A diagnosis as compact text. What authors wrote stands in quotes or in a marked quotation, never as a line of its own. */
import { nameOf } from '../diagnosis/summary.ts';
import { quoteUntrusted } from '../text/untrusted.ts';
import type { DiagnoseRunOutput, FailureOutput } from './diagnose-run-shapes.ts';

export function diagnosisText(output: DiagnoseRunOutput): string {
  return [
    output.summary,
    timing(output),
    ...output.failures.map(failureText),
    ...(output.failures_not_shown > 0 ? [`${output.failures_not_shown} more failures are not shown.`] : []),
    ...modelLines(output),
    ...waitingLines(output),
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
  const { try_number: tries, retries_left: left, blocks, log } = failure;
  const retry = failure.will_retry
    ? `will be tried again, ${left} retries left`
    : `${left} retries left, not tried again`;
  const cause = failure.cause === null ? 'cause not known' : `cause ${failure.cause}: ${failure.cause_meaning}`;
  const facts = [`state ${failure.state}, try ${tries}, ${retry}; ${cause}`];
  if (failure.failure_reason !== null) facts.push(`reason (untrusted): ${JSON.stringify(failure.failure_reason)}`);
  facts.push(blocksText(blocks));
  const head = `\nFailed task ${nameOf(failure)} (${failure.operator ?? 'operator not known'}): ${facts.join('\n  ')}`;
  if (log.lines.length === 0) return `${head}\n  log: ${log.note ?? 'left out, because the answer would be too long'}`;
  return `${head}\n${quoteUntrusted(`log of ${nameOf(failure)}, try ${tries}, last ${log.lines.length} lines`, log.lines)}`;
}

function blocksText({ total, task_ids: ids, note }: FailureOutput['blocks']): string {
  if (total === null) return `blocked tasks are not known: ${note}`;
  if (total === 0) return 'blocks no other task';
  const rest = total - ids.length;
  return `blocks ${total} downstream: ${ids.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
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
  const lines = waiting.map(
    (one) =>
      `- ${nameOf(one)}: ${one.state ?? 'no state yet'}${one.wait_reason === null ? '' : `, ${JSON.stringify(one.wait_reason)}`}`,
  );
  const total = counts.active + counts.waiting;
  const rest = total - waiting.length;
  return ['', 'Not finished:', ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])];
}
