// Original file: agent.proto

import type { Started as _svc_agent_v1_Started, Started__Output as _svc_agent_v1_Started__Output } from '../../../svc/agent/v1/Started.ts';
import type { Stop as _svc_agent_v1_Stop, Stop__Output as _svc_agent_v1_Stop__Output } from '../../../svc/agent/v1/Stop.ts';

export interface StartReply {
  'started'?: (_svc_agent_v1_Started | null);
  'stop'?: (_svc_agent_v1_Stop | null);
  'answer'?: "started"|"stop";
}

export interface StartReply__Output {
  'started'?: (_svc_agent_v1_Started__Output | null);
  'stop'?: (_svc_agent_v1_Stop__Output | null);
  'answer'?: "started"|"stop";
}
