// Original file: agent.proto


/**
 * Replaces the one the stream was opened with.
 */
export interface WorkerCredential {
  'token'?: (string);
}

/**
 * Replaces the one the stream was opened with.
 */
export interface WorkerCredential__Output {
  'token': (string);
}
