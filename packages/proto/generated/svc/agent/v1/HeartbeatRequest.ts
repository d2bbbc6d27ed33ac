// Original file: agent.proto


export interface HeartbeatRequest {
  'tokens'?: (string)[];
}

export interface HeartbeatRequest__Output {
  'tokens': (string)[];
}
