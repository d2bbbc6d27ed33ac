/**
 * Where the reading of a log goes on, as Airflow's `continuation_token`. It holds a place in a log that its bearer may read
 * anyway, so it is not signed; the checksum refuses what is mistyped, or belongs to another log.
 */
import { createHash } from 'node:crypto';
import type { LogPlace } from '../../logs/log-key.ts';
import { ApiError } from '../../http/errors.ts';

export const tokenAt = (place: LogPlace, offset: number): string => `${offset}.${checksum(place, offset)}`;

export function offsetOf(place: LogPlace, token: string): number {
  const [, digits = ''] = /^(\d{1,15})\.[0-9a-f]{16}$/.exec(token) ?? [];
  const offset = Number(digits);
  if (digits === '' || token !== tokenAt(place, offset)) {
    throw new ApiError('invalid_request', 'token: this is not a continuation_token of this log: leave it out');
  }
  return offset;
}

const checksum = (place: LogPlace, offset: number): string =>
  createHash('sha256')
    .update(
      JSON.stringify([place.tenantId, place.dagId, place.runId, place.taskId, place.mapIndex, place.tryNumber, offset]),
    )
    .digest('hex')
    .slice(0, 16);
