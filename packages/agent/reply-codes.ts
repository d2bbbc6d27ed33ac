/** The codes under which a task process sees refused calls. */
import { status } from '@grpc/grpc-js';
import { Refusal } from './contact/control-plane.ts';

const CODES: Partial<Record<status, string>> = {
  [status.NOT_FOUND]: 'not_found',
  [status.PERMISSION_DENIED]: 'denied',
  [status.UNAUTHENTICATED]: 'denied',
  [status.ALREADY_EXISTS]: 'conflict',
  [status.INVALID_ARGUMENT]: 'invalid',
  [status.OUT_OF_RANGE]: 'too_large',
  [status.FAILED_PRECONDITION]: 'unreadable',
  [status.ABORTED]: 'stale',
  [status.UNIMPLEMENTED]: 'unknown_method',
};

export const codeOf = (error: unknown): string =>
  error instanceof Refusal ? (CODES[error.code] ?? 'internal') : 'unavailable';
