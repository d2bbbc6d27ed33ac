/** The text of a value as the HTTP API shows it. */
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { TenantDb } from '../../db/database.ts';
import type { StoredValues } from './stored-values.ts';

/**
 * The largest stored value that an answer contains. Masking and formatting need the whole text in memory, so a larger
 * value is described instead. Tasks read values of any size.
 */
export const MAX_SHOWN_BYTES = 1024 * 1024;

export type ShownRow = { tenant_id: string; stored: string | null; value: string };

/** Returns JSON text. A value that is not shown is a JSON string that says why. */
export async function shownText(
  db: TenantDb,
  values: Pick<StoredValues, 'readText'>,
  row: ShownRow,
  maxBytes = MAX_SHOWN_BYTES,
): Promise<string> {
  if (row.stored === null) return row.value;
  const found = await values.readText(db, { tenantId: row.tenant_id, id: row.stored }, maxBytes);
  if (!found) return row.value; // it was removed after the row was read
  // An answer contains the text unchanged, and only the task's own process has read it so far.
  if (found.text !== undefined && !(await isJson(found.text)))
    return JSON.stringify('The task has stored no JSON text.');
  return found.text ?? JSON.stringify(`${described(row.value)} Not shown, because it has more than ${maxBytes} bytes.`);
}

async function isJson(text: string): Promise<boolean> {
  try {
    await parseJsonInTurns(text);
    return true;
  } catch {
    return false;
  }
}

/** The task has written the description as a JSON string. */
function described(value: string): string {
  const text: unknown = JSON.parse(value);
  return typeof text === 'string' ? text : 'A large value.';
}
