// Original file: agent.proto

import type { Long } from '@grpc/proto-loader';

export interface FinishReply {
  /**
   * False: the attempt was no longer the current one, and its word changed nothing.
   */
  'recorded'?: (boolean);
  /**
   * As in AppendLogReply.
   */
  'log_length'?: (number | string | Long);
}

export interface FinishReply__Output {
  /**
   * False: the attempt was no longer the current one, and its word changed nothing.
   */
  'recorded': (boolean);
  /**
   * As in AppendLogReply.
   */
  'log_length': (number);
}
