// Original file: agent.proto

import type { Secrets as _svc_agent_v1_Secrets, Secrets__Output as _svc_agent_v1_Secrets__Output } from '../../../svc/agent/v1/Secrets.ts';
import type { Long } from '@grpc/proto-loader';

export interface Started {
  /**
   * What the task process is given.
   */
  'job_json'?: (string);
  /**
   * Where the attempt's log goes on: earlier attempts of the same try may have written to it.
   */
  'log_offset'?: (number | string | Long);
  /**
   * Milliseconds from the call in which nobody else takes the attempt over; 0: nobody would. Heartbeats renew it.
   */
  'lease_ms'?: (number | string | Long);
  /**
   * Of a worker that keeps them: what belongs into the environment of the task, and must not appear in logs.
   */
  'secrets'?: (_svc_agent_v1_Secrets | null);
}

export interface Started__Output {
  /**
   * What the task process is given.
   */
  'job_json': (string);
  /**
   * Where the attempt's log goes on: earlier attempts of the same try may have written to it.
   */
  'log_offset': (number);
  /**
   * Milliseconds from the call in which nobody else takes the attempt over; 0: nobody would. Heartbeats renew it.
   */
  'lease_ms': (number);
  /**
   * Of a worker that keeps them: what belongs into the environment of the task, and must not appear in logs.
   */
  'secrets': (_svc_agent_v1_Secrets__Output | null);
}
