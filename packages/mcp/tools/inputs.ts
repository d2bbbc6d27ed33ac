/** Inputs of tools. A refusal says what is allowed, so that the next call can be right. */
import { z } from 'zod';
import { isSafeDagId, isSafeRunId, isSafeTaskId } from '../control-plane/ids.ts';

/** A whole number. Every message contains its range. */
export function wholeNumber(input: { min: number; max: number; default: number; about: string }) {
  const { min, max, about } = input;
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .number({ error })
    .int({ error })
    .min(min, { error })
    .max(max, { error })
    .default(input.default)
    .describe(`${about} (${min} to ${max}, default ${input.default})`);
}

const id = (isValid: (text: string) => boolean, message: string, about: string) =>
  z.string({ error: message }).refine(isValid, { error: message }).describe(about);

export const dagId = id(
  isSafeDagId,
  'must be a DAG id: 1 to 250 letters, digits, dots, dashes and underscores; list_dags shows them',
  'Id of the DAG, as list_dags shows it',
);

export const runId = id(
  isSafeRunId,
  'must be a run id: 1 to 250 letters, digits and _.~:+- as in manual__2026-01-02T03:04:05+00:00',
  'Id of the run, for example manual__2026-01-02T03:04:05+00:00',
);

export const taskId = id(
  isSafeTaskId,
  'must be a task id: 1 to 250 letters, digits, dots, dashes and underscores; diagnose_run shows them',
  'Id of the task, with the prefix of its groups',
);

/** The maximum of a four-byte column of the control plane. */
export const MAX_INT = 2_147_483_647;
