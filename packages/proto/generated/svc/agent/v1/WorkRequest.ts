// Original file: agent.proto


export interface WorkRequest {
  'hostname'?: (string);
  'pid'?: (number);
  'version'?: (string);
}

export interface WorkRequest__Output {
  'hostname': (string);
  'pid': (number);
  'version': (string);
}
