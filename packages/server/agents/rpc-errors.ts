/** Errors of the agent service and their gRPC status. Agents never receive the text of any other error. */
import { status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { DatabaseBusyError, isOutage } from '../db/outage.ts';
import { LogMissingError, LogSpoolFullError, LogStorageError } from '../logs/store.ts';
import { UnsealError } from '../vault/keyring.ts';
import type { AgentLog } from './collaborators.ts';

/** The agent passes the code to the task (`not_found` becomes the exception that an author expects). */
const STATUS_OF = {
  invalid: status.INVALID_ARGUMENT,
  not_found: status.NOT_FOUND,
  denied: status.PERMISSION_DENIED,
  conflict: status.ALREADY_EXISTS,
  too_large: status.OUT_OF_RANGE,
  /** The request exceeds the limits of the method. Our agents never send such requests. */
  over_limit: status.RESOURCE_EXHAUSTED,
  unreadable: status.FAILED_PRECONDITION,
  unavailable: status.UNAVAILABLE,
  unauthenticated: status.UNAUTHENTICATED,
  /** The attempt is no longer the current one. */
  stale: status.ABORTED,
  unknown_method: status.UNIMPLEMENTED,
} as const;

export type RpcCode = keyof typeof STATUS_OF;

export class RpcError extends Error {
  readonly code: RpcCode;

  constructor(code: RpcCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type RpcAnswer = Pick<ServiceError, 'code' | 'details'>;

/** An unreachable database is worth another try. An unexpected error is logged here and answered without its text. */
export function toServiceError(error: unknown, input: { log: AgentLog; method: string }): RpcAnswer {
  if (error instanceof RpcError) return { code: STATUS_OF[error.code], details: error.message };
  if (isOutage(error)) return { code: status.UNAVAILABLE, details: error.advice };
  if (error instanceof DatabaseBusyError) return { code: status.UNAVAILABLE, details: error.message };
  // Worth another try, and the connection is fine.
  if (error instanceof LogSpoolFullError) return { code: status.RESOURCE_EXHAUSTED, details: error.message };
  if (error instanceof LogMissingError) return { code: status.NOT_FOUND, details: error.message };
  if (error instanceof LogStorageError) {
    input.log.warn(
      { code: 'SVC4010', err: error, method: input.method },
      'the store of task logs and large values cannot be used',
    );
    return { code: status.UNAVAILABLE, details: error.message };
  }
  if (error instanceof UnsealError) return { code: status.FAILED_PRECONDITION, details: error.message };
  input.log.error({ code: 'SVC4011', err: error, method: input.method }, 'an agent call failed');
  return { code: status.INTERNAL, details: 'internal error: see the log of the control plane' };
}
