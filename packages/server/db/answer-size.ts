/**
 * Limits the bytes of one answer of the database. A limit on rows alone does not bound the memory of a request, because
 * rows contain what authors wrote, such as a conf of up to one MiB.
 */
import type pg from 'pg';
import { cutConnection } from './watch-connection.ts';

/** The limit for requests to the API. Our own client also reads no more (packages/client). */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The answer to the statement exceeds the limit. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';

  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`an answer has more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/**
 * Closes the connection when an answer grows beyond the limit. Otherwise Postgres would send the rest of it. A single
 * row is always accepted, because what was stored must be readable.
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
