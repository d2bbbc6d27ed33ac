// Original file: agent.proto


export interface StartRequest {
  'hostname'?: (string);
  /**
   * 0 when the process is not there yet: heartbeats and the outcome carry it.
   */
  'pid'?: (number);
}

export interface StartRequest__Output {
  'hostname': (string);
  /**
   * 0 when the process is not there yet: heartbeats and the outcome carry it.
   */
  'pid': (number);
}
