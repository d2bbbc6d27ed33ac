/** The result of a local run, for people. */
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { printTable, styled } from '../output/terminal.ts';
import type { LocalResult, LocalTask } from './run-locally.ts';

const LONGEST_VALUE = 120;

export function printResult({ stdout }: CliContext, { dag_id: dagId, state, seconds, tasks }: LocalResult): void {
  printTable(stdout, {
    columns: [
      { title: 'TASK', value: nameOf },
      { title: 'STATE', value: (task) => task.state ?? 'not run' },
      { title: 'TRIES', value: (task) => String(task.tries), align: 'right' },
      { title: 'TIME', value: (task) => timeOf(task.seconds), align: 'right' },
      { title: 'RESULT', value: resultOf },
    ],
    rows: tasks,
  });
  const style = state === 'success' ? 'green' : 'red';
  stdout.write(`${dagId}: ${styled(stdout, style, state)} in ${timeOf(seconds)}\n`);
}

/** The error of a command whose run or task has not succeeded. */
export function failureOf({ tasks, state, dag_id: dagId }: LocalResult): CliError | undefined {
  if (state === 'success' || state === 'skipped') return undefined;
  const failed = tasks.filter((task) => task.state === 'failed');
  const where = failed.map((task) => (task.line === null ? nameOf(task) : `${nameOf(task)} (${task.line})`));
  return new CliError(where.length > 0 ? `${dagId} failed in ${where.join(', ')}` : `${dagId} has ended as ${state}`);
}

const nameOf = ({ task_id: taskId, map_index: index }: LocalTask): string =>
  index < 0 ? taskId : `${taskId}[${index}]`;

const timeOf = (seconds: number | null): string => (seconds === null ? '-' : `${seconds.toFixed(2)} s`);

function resultOf({ error, line, value }: LocalTask): string {
  if (error !== null) return line === null ? error : `${error} (${line})`;
  const text = value === null ? '' : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
