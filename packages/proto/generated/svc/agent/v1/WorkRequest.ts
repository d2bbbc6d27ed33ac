// Original file: agent.proto


export interface WorkRequest {
  'hostname'?: (string);
  'pid'?: (number);
  'version'?: (string);
  /**
   * The credentials of the attempts that it runs: whoever gets the stream may know nothing of them.
   */
  'running_tokens'?: (string)[];
}

export interface WorkRequest__Output {
  'hostname': (string);
  'pid': (number);
  'version': (string);
  /**
   * The credentials of the attempts that it runs: whoever gets the stream may know nothing of them.
   */
  'running_tokens': (string)[];
}
