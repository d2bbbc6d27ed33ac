// Original file: agent.proto


export interface ExchangeReply {
  /**
   * The attempt's credential, or the worker's.
   */
  'token'?: (string);
  /**
   * Of a worker that serves one DAG version: its key. It may get the version ready before the first attempt comes.
   */
  'version_key'?: (string);
}

export interface ExchangeReply__Output {
  /**
   * The attempt's credential, or the worker's.
   */
  'token': (string);
  /**
   * Of a worker that serves one DAG version: its key. It may get the version ready before the first attempt comes.
   */
  'version_key': (string);
}
