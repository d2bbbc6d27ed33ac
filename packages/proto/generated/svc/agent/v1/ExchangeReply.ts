// Original file: agent.proto


export interface ExchangeReply {
  /**
   * The attempt's credential.
   */
  'token'?: (string);
}

export interface ExchangeReply__Output {
  /**
   * The attempt's credential.
   */
  'token': (string);
}
