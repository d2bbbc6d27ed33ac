// Original file: agent.proto

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
}
