// Original file: agent.proto


export interface Cancel {
  'attempt_ids'?: (string)[];
  'reason'?: (string);
}

export interface Cancel__Output {
  'attempt_ids': (string)[];
  'reason': (string);
}
