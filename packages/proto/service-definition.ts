/**
 * What @grpc/grpc-js needs of the service, from the generated description of agent.proto.
 *
 * Not by @grpc/proto-loader, whose result this is the same as (service-definition.test.ts): it parses the file and describes
 * every message anew at each start, which was half of what a pod's agent took to be ready (npm run bench -- pod-start). Here
 * the code of a message is made when it is first sent or received.
 */
import type { ServiceDefinition } from '@grpc/grpc-js';
import protobuf from 'protobufjs/light.js';
import { DESCRIPTION } from './generated/description.ts';
import { LOADER_OPTIONS } from './loader-options.ts';

const SERVICE = 'svc.agent.v1.Agent';

export function serviceDefinition(): ServiceDefinition {
  const service = protobuf.Root.fromJSON(DESCRIPTION).lookupService(SERVICE);
  return Object.fromEntries(
    Object.entries(service.methods).map(([name, method]) => {
      const request = codecOf(service, method.requestType);
      const reply = codecOf(service, method.responseType);
      return [
        name,
        {
          path: `/${SERVICE}/${name}`,
          originalName: name.charAt(0).toLowerCase() + name.slice(1),
          requestStream: method.requestStream === true,
          responseStream: method.responseStream === true,
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

function codecOf(service: protobuf.Service, name: string): Codec {
  let found: protobuf.Type | undefined;
  const type = (): protobuf.Type => (found ??= service.lookupType(name));
  return {
    encode: (message) => type().encode(type().fromObject(message)).finish() as Buffer,
    decode: (bytes) => type().toObject(type().decode(bytes), LOADER_OPTIONS),
  };
}
