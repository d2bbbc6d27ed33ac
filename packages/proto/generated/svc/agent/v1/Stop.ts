// Original file: agent.proto


export interface Stop {
  'reason'?: (string);
}

export interface Stop__Output {
  'reason': (string);
}
