// Original file: agent.proto

import type { Long } from '@grpc/proto-loader';

export interface AppendLogReply {
  /**
   * How long the log is now. Less than offset plus data: there is a gap, go on from here.
   */
  'length'?: (number | string | Long);
}

export interface AppendLogReply__Output {
  /**
   * How long the log is now. Less than offset plus data: there is a gap, go on from here.
   */
  'length': (number);
}
