// Original file: agent.proto


/**
 * Takes the place of the one the stream was opened with.
 */
export interface WorkerCredential {
  'token'?: (string);
}

/**
 * Takes the place of the one the stream was opened with.
 */
export interface WorkerCredential__Output {
  'token': (string);
}
