// Original file: agent.proto

import type { Long } from '@grpc/proto-loader';

export interface FinishRequest {
  /**
   * AttemptOutcome of the control plane, in JSON.
   */
  'outcome_json'?: (string);
  'log_offset'?: (number | string | Long);
  'log_data'?: (Buffer | Uint8Array | string);
  /**
   * The worker's own credential, when it would go on with another attempt; empty when not.
   */
  'worker_token'?: (string);
  /**
   * The process has not ended yet, so a few more lines may follow the outcome. Without it the log ends here.
   */
  'log_goes_on'?: (boolean);
  /**
   * Why the worker takes no more attempts: what this or an earlier one left behind. It leaves by itself when it is idle.
   */
  'drain_reason'?: (string);
  /**
   * The worker has not begun the attempt, and will not: `drain_reason` says why. Another worker may run it.
   */
  'not_begun'?: (boolean);
}

export interface FinishRequest__Output {
  /**
   * AttemptOutcome of the control plane, in JSON.
   */
  'outcome_json': (string);
  'log_offset': (number);
  'log_data': (Buffer);
  /**
   * The worker's own credential, when it would go on with another attempt; empty when not.
   */
  'worker_token': (string);
  /**
   * The process has not ended yet, so a few more lines may follow the outcome. Without it the log ends here.
   */
  'log_goes_on': (boolean);
  /**
   * Why the worker takes no more attempts: what this or an earlier one left behind. It leaves by itself when it is idle.
   */
  'drain_reason': (string);
  /**
   * The worker has not begun the attempt, and will not: `drain_reason` says why. Another worker may run it.
   */
  'not_begun': (boolean);
}
