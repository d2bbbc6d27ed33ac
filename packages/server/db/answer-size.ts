/**
 * A limit on the bytes of one answer of the database. Rows hold what authors wrote, up to a MiB in each conf, so a limit on rows
 * alone does not bound the memory of a request.
 */
import type pg from 'pg';
import { cutConnection } from './watch-connection.ts';

/** What one request may receive. A client of ours reads no more either (packages/client). */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The statement found more than may be held in memory for one request. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';

  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`an answer has more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/**
 * Closes the connection when an answer grows beyond the limit: Postgres would send the rest of it otherwise. A single row is always
 * accepted, because what was stored must be readable.
 */
export function limitAnswers(client: Pick<pg.Client, 'connection'>, maxBytes: number): void {
  let bytes = 0;
  let rows = 0;
  const reset = (): void => {
    bytes = 0;
    rows = 0;
  };
  client.connection.on('dataRow', ({ length }: { length: number }) => {
    bytes += length;
    rows += 1;
    if (bytes > maxBytes && rows > 1) cutConnection(client, new AnswerTooLargeError(maxBytes));
  });
  client.connection.on('commandComplete', reset);
}
