// Original file: agent.proto


export interface CallRequest {
  'method'?: (string);
  'params_json'?: (string);
  /**
   * Unique within the attempt; the same when the call is made again.
   */
  'request_id'?: (string);
}

export interface CallRequest__Output {
  'method': (string);
  'params_json': (string);
  /**
   * Unique within the attempt; the same when the call is made again.
   */
  'request_id': (string);
}
