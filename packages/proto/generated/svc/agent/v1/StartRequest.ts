// Original file: agent.proto


export interface StartRequest {
  'hostname'?: (string);
  /**
   * 0 when the process is not there yet: heartbeats and the outcome carry it.
   */
  'pid'?: (number);
  /**
   * States of secrets that the worker holds (Secrets.id), with a space between; "-" when it holds none. Empty: it keeps none,
   * and gets them all in the job.
   */
  'known_secrets'?: (string);
}

export interface StartRequest__Output {
  'hostname': (string);
  /**
   * 0 when the process is not there yet: heartbeats and the outcome carry it.
   */
  'pid': (number);
  /**
   * States of secrets that the worker holds (Secrets.id), with a space between; "-" when it holds none. Empty: it keeps none,
   * and gets them all in the job.
   */
  'known_secrets': (string);
}
