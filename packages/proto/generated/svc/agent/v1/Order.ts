// Original file: agent.proto

import type { Assignment as _svc_agent_v1_Assignment, Assignment__Output as _svc_agent_v1_Assignment__Output } from '../../../svc/agent/v1/Assignment.ts';
import type { Cancel as _svc_agent_v1_Cancel, Cancel__Output as _svc_agent_v1_Cancel__Output } from '../../../svc/agent/v1/Cancel.ts';
import type { WorkerCredential as _svc_agent_v1_WorkerCredential, WorkerCredential__Output as _svc_agent_v1_WorkerCredential__Output } from '../../../svc/agent/v1/WorkerCredential.ts';
import type { Drain as _svc_agent_v1_Drain, Drain__Output as _svc_agent_v1_Drain__Output } from '../../../svc/agent/v1/Drain.ts';

export interface Order {
  'assignment'?: (_svc_agent_v1_Assignment | null);
  'cancel'?: (_svc_agent_v1_Cancel | null);
  'credential'?: (_svc_agent_v1_WorkerCredential | null);
  'drain'?: (_svc_agent_v1_Drain | null);
  'order'?: "assignment"|"cancel"|"credential"|"drain";
}

export interface Order__Output {
  'assignment'?: (_svc_agent_v1_Assignment__Output | null);
  'cancel'?: (_svc_agent_v1_Cancel__Output | null);
  'credential'?: (_svc_agent_v1_WorkerCredential__Output | null);
  'drain'?: (_svc_agent_v1_Drain__Output | null);
  'order'?: "assignment"|"cancel"|"credential"|"drain";
}
