/**
 * Airflow's `continuation_token`, which says where reading a log continues. It contains a position in a log that its
 * bearer may read anyway, so it is not signed. The checksum refuses a mistyped token and one of another log.
 */
import { createHash } from 'node:crypto';
import type { LogKey } from '../../logs/log-key.ts';
import { ApiError } from '../../http/errors.ts';

export const tokenAt = (logKey: LogKey, offset: number): string => `${offset}.${checksum(logKey, offset)}`;

export function offsetOf(logKey: LogKey, token: string): number {
  const [, digits = ''] = /^(\d{1,15})\.[0-9a-f]{16}$/.exec(token) ?? [];
  const offset = Number(digits);
  if (digits === '' || token !== tokenAt(logKey, offset)) {
    throw new ApiError('invalid_request', 'token: this is not a continuation_token of this log: leave it out');
  }
  return offset;
}

const checksum = (logKey: LogKey, offset: number): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        logKey.tenantId,
        logKey.dagId,
        logKey.runId,
        logKey.taskId,
        logKey.mapIndex,
        logKey.tryNumber,
        offset,
      ]),
    )
    .digest('hex')
    .slice(0, 16);
