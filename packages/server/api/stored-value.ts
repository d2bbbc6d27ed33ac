/** The text of an XCom in an answer, also when it is in the store of task logs. */
import type { TenantDb } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import { LogStorageError } from '../logs/store.ts';
import { MAX_SHOWN_BYTES, shownText } from '../xcom/stored/shown-text.ts';
import type { ShownRow } from '../xcom/stored/shown-text.ts';
import type { StoredValues } from '../xcom/stored/stored-values.ts';

/** Returns JSON text. A value of more than `maxBytes` is a JSON string that describes it. */
export async function textOf(
  db: TenantDb,
  values: StoredValues,
  row: ShownRow,
  maxBytes = MAX_SHOWN_BYTES,
): Promise<string> {
  try {
    return await shownText(db, values, row, maxBytes);
  } catch (error) {
    if (!(error instanceof LogStorageError)) throw error;
    throw new ApiError(
      'logs_unavailable',
      error.advice ?? 'the store of task logs and large values cannot be read right now: see the log of the server',
    );
  }
}
