// Original file: agent.proto

import type { NextAttempt as _svc_agent_v1_NextAttempt, NextAttempt__Output as _svc_agent_v1_NextAttempt__Output } from '../../../svc/agent/v1/NextAttempt.ts';
import type { Long } from '@grpc/proto-loader';

export interface FinishReply {
  /**
   * False: the attempt was no longer the current one, and its report changed nothing.
   */
  'recorded'?: (boolean);
  /**
   * As in AppendLogReply.
   */
  'log_length'?: (number | string | Long);
  /**
   * What the worker goes on with: it has been started. The same again when the same end is reported again.
   */
  'next'?: (_svc_agent_v1_NextAttempt | null);
}

export interface FinishReply__Output {
  /**
   * False: the attempt was no longer the current one, and its report changed nothing.
   */
  'recorded': (boolean);
  /**
   * As in AppendLogReply.
   */
  'log_length': (number);
  /**
   * What the worker goes on with: it has been started. The same again when the same end is reported again.
   */
  'next': (_svc_agent_v1_NextAttempt__Output | null);
}
