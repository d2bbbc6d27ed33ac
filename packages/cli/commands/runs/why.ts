/** `svc runs why`: why a run failed or waits, what that blocks, and what to try. */
import type { RunDiagnosis } from '@svc/client/wire-types.ts';
import { connect, withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { printable } from '../../output/text.ts';
import { timeText } from '../../output/wording.ts';
import { instanceName, stateText } from '../../runs/fields.ts';
import { findRun } from '../../runs/find-run.ts';
import { parseCount } from '../../runs/run-options.ts';
import type { SvcCommand } from '../../svc-command.ts';

type WhyOptions = ClientCommandOptions & { lines: number };
type Failure = RunDiagnosis['failures'][number];
type Waiting = RunDiagnosis['waiting'][number];

const DEFAULT_LINES = 10;
const MAX_NAMED = 5;

export function addRunsWhyCommand(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('why'))
    .description('Say why a run failed or waits, what that blocks, since when, and what to try')
    .argument('<dag-id>', 'id of the DAG')
    .argument('[run-id]', 'id of the run (default: the newest)')
    .option('--lines <number>', 'last lines of each failed log, at most 200', parseCount, DEFAULT_LINES)
    .example('the newest run', 'svc runs why daily_sales')
    .example('as JSON, with stable codes', 'svc runs why daily_sales --json')
    .action((dagId: string, runId: string | undefined, options: WhyOptions) => why(context, dagId, runId, options));
}

async function why(context: CliContext, dagId: string, runId: string | undefined, options: WhyOptions): Promise<void> {
  const client = await connect(context, options);
  const run = await findRun(client, dagId, runId);
  const diagnosis = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/diagnosis', {
    path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id },
    query: { log_tail_lines: options.lines },
  });
  if (options.json) {
    printJson(context, diagnosis);
    return;
  }
  const lines = [
    `Run ${diagnosis.dag_run_id} of ${diagnosis.dag_id}: ${diagnosis.state}`,
    ...(diagnosis.run_wait === null ? [] : waitLines('It has not started', diagnosis.run_wait)),
    ...diagnosis.failures.flatMap(failureLines),
    ...(diagnosis.failures_not_shown > 0 ? [`${diagnosis.failures_not_shown} more failures are not shown.`] : []),
    ...diagnosis.waiting.flatMap(waitingLines),
  ];
  context.stdout.write(`${lines.map(printable).join('\n')}\n`);
}

function failureLines(failure: Failure): string[] {
  const { cause, history, blocks, log, advice } = failure;
  const exception = cause?.exception;
  const place = exception?.file ? ` (${exception.file}:${exception.line})` : '';
  return [
    '',
    `${instanceName(failure)} ${stateText(failure.state)} at try ${failure.try_number}: ${cause ? `${cause.code}: ${cause.detail ?? cause.meaning}${place}` : 'the cause is not known'}`,
    ...(exception?.code ? [`  line: ${exception.code}`] : []),
    ...(failure.next_try_at === null ? [] : [`  next try: ${timeText(failure.next_try_at)}`]),
    ...lossLine(failure.infrastructure_retries),
    ...(failure.group_retries > 0 ? [`  retries of its group or run: ${failure.group_retries}`] : []),
    ...(blocks && blocks.total > 0 ? [`  blocks: ${namesOf(blocks)}`] : []),
    ...(history === null ? [] : [`  history: ${historyText(history)}`]),
    ...advice.map(({ text }) => `  try: ${text}`),
    ...(log.lines.length > 0
      ? ['  log:', ...log.lines.map((line) => `  | ${line}`)]
      : [`  log: ${log.note ?? 'empty'}`]),
  ];
}

const lossLine = (lost: number): string[] =>
  lost === 0 ? [] : [`  lost to infrastructure: ${lost} ${lost === 1 ? 'try' : 'tries'}, which used up no retry`];

function namesOf({ total, task_ids: ids }: NonNullable<Failure['blocks']>): string {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  return total > MAX_NAMED ? `${named} and ${total - MAX_NAMED} more` : named;
}

function historyText(history: NonNullable<Failure['history']>): string {
  const { since_version: since, failed_before: before, runs_compared: compared, first_failure: first } = history;
  if (compared === 0) return 'there is no earlier run to compare with';
  const version = since === null ? '' : `, since version ${since}${commitOf(first.version)}`;
  const same = history.same_cause_in.length;
  const cause = same === 0 ? '' : `; the same cause in ${same} of the last ${compared} runs`;
  return before === 0
    ? `first failure in a row${version}${cause}`
    : `${before + 1} failures in a row from run ${first.run_id} on${version}${cause}`;
}

const commitOf = (version: { bundle_version: string | null } | null): string =>
  version?.bundle_version ? ` (commit ${version.bundle_version})` : '';

function waitingLines(waiting: Waiting): string[] {
  if (waiting.wait === null) return [];
  return ['', ...waitLines(`${instanceName(waiting)} ${stateText(waiting.state)}`, waiting.wait)];
}

function waitLines(subject: string, wait: NonNullable<Waiting['wait'] | RunDiagnosis['run_wait']>): string[] {
  const detail = wait.detail === null ? '' : ` (${wait.detail})`;
  return [`${subject}: ${wait.meaning}${detail}`, `  ends with: ${wait.ends_with}`];
}
