// Original file: agent.proto


export interface Beat {
  'stop'?: (boolean);
  'reason'?: (string);
  /**
   * A fresh credential, or empty: keep the old one.
   */
  'token'?: (string);
}

export interface Beat__Output {
  'stop': (boolean);
  'reason': (string);
  /**
   * A fresh credential, or empty: keep the old one.
   */
  'token': (string);
}
