/**
 * The `cursor` parameter of lists, as in Airflow. If it is present, even empty, the list is paged by cursor instead of
 * by offset. A token is opaque to the client. It names the order that it was made for, because it has no meaning in
 * another order. A leading `~` marks a token that leads to the previous page.
 */
import { Type } from 'typebox';
import type { Cursor, CursorValue, SortKey } from '../db/keyset.ts';
import { ApiError } from './errors.ts';
import { isDateTime } from './validation.ts';

export const CursorQuery = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 4_000,
      description:
        'Page by place: empty for the first page, then `next_cursor` or `previous_cursor` of the answer before. ' +
        'Pages stay apart while entries are added. `offset` and `total_entries` do not apply then.',
    }),
  ),
};

/** The sort keys by name, in order, as a token stores them: `-run_after,-id`. */
export type NamedOrder = string;

export function encodeCursor(order: NamedOrder, { values, backward }: Cursor): string {
  const token = Buffer.from(JSON.stringify([order, ...values])).toString('base64url');
  return backward ? `~${token}` : token;
}

/** Returns undefined for the empty cursor, which means the first page. */
export function decodeCursor(cursor: string, order: NamedOrder, keys: readonly SortKey[]): Cursor | undefined {
  if (cursor === '') return undefined;
  const backward = cursor.startsWith('~');
  const parts = readToken(backward ? cursor.slice(1) : cursor);
  if (!parts) throw new ApiError('invalid_request', 'cursor is invalid: use the value of next_cursor, or leave it out');
  const [madeFor, ...values] = parts;
  if (madeFor !== order) {
    throw new ApiError('invalid_request', 'cursor: it belongs to another order_by: start again with an empty cursor');
  }
  if (values.length !== keys.length || !keys.every((key, index) => fits(key, values[index]))) {
    throw new ApiError('invalid_request', 'cursor is invalid: use the value of next_cursor, or leave it out');
  }
  return { values: values as CursorValue[], backward };
}

function readToken(token: string): unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

/** True if the database can compare with the value. A client may have made up the token. */
function fits({ type, nullable }: SortKey, value: unknown): boolean {
  if (value === null) return nullable;
  switch (type) {
    case 'timestamptz':
      return typeof value === 'string' && isDateTime(value);
    case 'text':
      return typeof value === 'string' && !value.includes('\u0000');
    case 'float8':
      return typeof value === 'number' && Number.isFinite(value);
    case 'bigint':
      return Number.isSafeInteger(value);
  }
}
