/** Values and answers that a person gives to a test on the command line. */
import { InvalidArgumentError } from 'commander';
import { parseExact } from '@svc/spec/exact-json.ts';
import { usageError } from '../cli-error.ts';
import type { LocalOrder } from './run-locally.ts';

const RETURN_KEY = 'return_value';

/** `task=value` or `task:key=value`. */
export const readXcoms = (given: readonly string[], taskIds: readonly string[]): LocalOrder['xcoms'] =>
  given.map((text) => {
    const [place, value] = partsOf('--xcom', text, 'extract=[1, 2]');
    const given = xcomAt(place, valueOf(value));
    check('--xcom', given.task_id, taskIds);
    return given;
  });

/** The place is `task`, for what the task returned, or `task:key`. */
export function xcomAt(place: string, value: unknown): LocalOrder['xcoms'][number] {
  const [taskId = '', ...key] = place.split(':');
  return { task_id: taskId, key: key.length > 0 ? key.join(':') : RETURN_KEY, value, instances: null };
}

export function readAnswers(given: readonly string[], taskIds: readonly string[]): LocalOrder['answers'] {
  const answers: Record<string, string[]> = {};
  for (const text of given) {
    const [taskId, option] = partsOf('--answer', text, 'approve=Approve');
    check('--answer', taskId, taskIds);
    (answers[taskId] ??= []).push(option);
  }
  return answers;
}

function partsOf(option: string, text: string, example: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError(`${option} is ${JSON.stringify(text)}`, `give a task and a value: ${option} '${example}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function check(option: string, taskId: string, taskIds: readonly string[]): void {
  if (!taskIds.includes(taskId)) {
    throw usageError(
      `${option} names the task ${taskId}, which the DAG does not have`,
      `it has: ${taskIds.join(', ')}`,
    );
  }
}

function valueOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

export function parseIndex(text: string): number {
  const index = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(index)) throw new InvalidArgumentError('Give a number from 0.');
  return index;
}
