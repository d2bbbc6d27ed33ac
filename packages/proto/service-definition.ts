/**
 * Builds what @grpc/grpc-js needs of the service from the generated code of agent.proto.
 *
 * @grpc/proto-loader would give the same result (service-definition.test.ts). But it parses the file, describes every
 * message and generates code at each start. That was half of the startup time of a pod's agent (`npm run bench --
 * pod-start`).
 */
import type { ServiceDefinition } from '@grpc/grpc-js';
import { MESSAGES, METHODS } from './generated/messages.ts';
import { LOADER_OPTIONS } from './loader-options.ts';

const SERVICE = 'svc.agent.v1.Agent';

export function serviceDefinition(): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(METHODS).map(([name, method]) => {
      const request = codecOf(method.request);
      const reply = codecOf(method.reply);
      return [
        name,
        {
          path: `/${SERVICE}/${name}`,
          originalName: name.charAt(0).toLowerCase() + name.slice(1),
          requestStream: method.requestStream,
          responseStream: method.responseStream,
          requestSerialize: request.encode,
          requestDeserialize: request.decode,
          responseSerialize: reply.encode,
          responseDeserialize: reply.decode,
        },
      ];
    }),
  );
}

type Codec = { encode(message: object): Buffer; decode(bytes: Buffer): object };

function codecOf(name: string): Codec {
  const type = MESSAGES[name];
  if (!type) throw new Error(`agent.proto has no message ${name}`);
  return {
    encode: (message) => type.encode(type.fromObject(message)).finish() as Buffer,
    decode: (bytes) => type.toObject(type.decode(bytes), LOADER_OPTIONS),
  };
}
