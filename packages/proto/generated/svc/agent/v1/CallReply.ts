// Original file: agent.proto


export interface CallReply {
  'value_json'?: (string);
  /**
   * Secret values in the reply that must not appear in a log.
   */
  'masks'?: (string)[];
}

export interface CallReply__Output {
  'value_json': (string);
  /**
   * Secret values in the reply that must not appear in a log.
   */
  'masks': (string)[];
}
