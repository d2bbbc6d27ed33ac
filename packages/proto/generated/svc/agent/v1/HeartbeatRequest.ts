// Original file: agent.proto


export interface HeartbeatRequest {
  'tokens'?: (string)[];
  /**
   * Of the processes, in the same order; 0 for one that is not there yet.
   */
  'pids'?: (number)[];
}

export interface HeartbeatRequest__Output {
  'tokens': (string)[];
  /**
   * Of the processes, in the same order; 0 for one that is not there yet.
   */
  'pids': (number)[];
}
