// Original file: agent.proto


export interface JoinRequest {
  'hostname'?: (string);
  'version'?: (string);
  /**
   * For people; empty: the host's name.
   */
  'name'?: (string);
  /**
   * Of those that the token allows; none: all of them.
   */
  'queues'?: (string)[];
  /**
   * How many attempts it runs at once.
   */
  'slots'?: (number);
}

export interface JoinRequest__Output {
  'hostname': (string);
  'version': (string);
  /**
   * For people; empty: the host's name.
   */
  'name': (string);
  /**
   * Of those that the token allows; none: all of them.
   */
  'queues': (string)[];
  /**
   * How many attempts it runs at once.
   */
  'slots': (number);
}
