// Original file: agent.proto

import type { Assignment as _svc_agent_v1_Assignment, Assignment__Output as _svc_agent_v1_Assignment__Output } from '../../../svc/agent/v1/Assignment.ts';
import type { Started as _svc_agent_v1_Started, Started__Output as _svc_agent_v1_Started__Output } from '../../../svc/agent/v1/Started.ts';

export interface NextAttempt {
  'assignment'?: (_svc_agent_v1_Assignment | null);
  'started'?: (_svc_agent_v1_Started | null);
}

export interface NextAttempt__Output {
  'assignment': (_svc_agent_v1_Assignment__Output | null);
  'started': (_svc_agent_v1_Started__Output | null);
}
