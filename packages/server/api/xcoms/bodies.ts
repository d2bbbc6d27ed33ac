/** Converts cross-task values between the database and requests or answers. */
import type { XcomSummary } from '../../db/task-instances/xcoms.ts';
import type { FoundXcom } from '../../xcom/store.ts';
import { asText } from './deserialize.ts';
import { deserializeInTurns } from './deserialize-in-turns.ts';
import type { ReaderMask } from '../../vault/reader-masks.ts';
import { ApiError } from '../../http/errors.ts';

export const summaryBody = (row: XcomSummary, taskName: string | undefined) => ({
  key: row.key,
  timestamp: row.at,
  logical_date: row.logical_date,
  map_index: row.map_index,
  task_id: row.task_id,
  dag_id: row.dag_id,
  run_id: row.run_id,
  dag_run_id: row.run_id,
  dag_display_name: row.dag_display_name,
  task_display_name: taskName ?? row.task_id,
  run_after: row.run_after,
});

export type Form = { deserialize?: boolean; stringify?: boolean };

/** Builds the answer as text, so that the stored value is inserted unchanged, with its digits and order of keys. */
export async function entryText(
  row: FoundXcom,
  taskName: string | undefined,
  form: Form & { mask?: ReaderMask | undefined } = {},
): Promise<string> {
  const stored = form.mask ? await form.mask(row.value, row.key) : row.value;
  const shown = form.deserialize ? await deserializeInTurns(stored) : stored;
  const value = form.stringify ? JSON.stringify(asText(shown)) : shown;
  return `${JSON.stringify(summaryBody(row, taskName)).slice(0, -1)},"value":${value}}`;
}

/** Airflow turns dicts with these keys into objects of classes. A caller of the API must not create them. */
const RESERVED = new Set([
  '__classname__',
  '__version__',
  '__data__',
  '__id__',
  '__cache__',
  '__type',
  '__source',
  '__var',
]);

/** Returns the JSON text to store. It keeps its own stack, because a body may nest deeply. */
export function valueText(value: unknown): string {
  const pending = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null) continue;
    const reserved = Array.isArray(next) ? undefined : Object.keys(next).find((key) => RESERVED.has(key));
    if (reserved !== undefined) {
      throw new ApiError('invalid_request', `value must not contain the key "${reserved}": Airflow reserves it`);
    }
    // Items are pushed one by one, because a single call with all of them might exceed the limit of arguments.
    for (const item of Object.values(next)) pending.push(item);
  }
  return JSON.stringify(value);
}
