// Original file: agent.proto

import type { Beat as _svc_agent_v1_Beat, Beat__Output as _svc_agent_v1_Beat__Output } from '../../../svc/agent/v1/Beat.ts';
import type { Long } from '@grpc/proto-loader';

export interface HeartbeatReply {
  /**
   * One for each credential, in the same order.
   */
  'beats'?: (_svc_agent_v1_Beat)[];
  /**
   * As in Started; for all that need not stop.
   */
  'lease_ms'?: (number | string | Long);
}

export interface HeartbeatReply__Output {
  /**
   * One for each credential, in the same order.
   */
  'beats': (_svc_agent_v1_Beat__Output)[];
  /**
   * As in Started; for all that need not stop.
   */
  'lease_ms': (number);
}
