// Original file: agent.proto

import type { Long } from '@grpc/proto-loader';

export interface AppendLogRequest {
  'offset'?: (number | string | Long);
  'data'?: (Buffer | Uint8Array | string);
}

export interface AppendLogRequest__Output {
  'offset': (number);
  'data': (Buffer);
}
