// Original file: agent.proto


export interface FinishReply {
  /**
   * False: the attempt was no longer the current one, and its word changed nothing.
   */
  'recorded'?: (boolean);
}

export interface FinishReply__Output {
  /**
   * False: the attempt was no longer the current one, and its word changed nothing.
   */
  'recorded': (boolean);
}
