// Original file: agent.proto


export interface JoinReply {
  /**
   * The worker's credential.
   */
  'token'?: (string);
  'worker_id'?: (string);
  'queues'?: (string)[];
}

export interface JoinReply__Output {
  /**
   * The worker's credential.
   */
  'token': (string);
  'worker_id': (string);
  'queues': (string)[];
}
