import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import type { ServiceDefinition } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import { LOADER_OPTIONS } from './loader-options.ts';
import { serviceDefinition } from './service-definition.ts';

const ours = serviceDefinition();
const loaded = loadSync(join(import.meta.dirname, 'agent.proto'), LOADER_OPTIONS)[
  'svc.agent.v1.Agent'
] as ServiceDefinition;

it('has the methods of agent.proto, with their paths and streams', () => {
  const shapes = (service: object): unknown =>
    Object.entries(service as ServiceDefinition).map(([name, method]) => {
      const { path, originalName, requestStream, responseStream } = method;
      return { name, path, originalName, requestStream, responseStream };
    });
  expect(shapes(ours)).toEqual(shapes(loaded));
});

/** A value of the message with every field set; of a choice between fields, the last. */
function filled(name: string): object {
  const { fields = {}, oneofs = {} } = MESSAGES[name] ?? {};
  const others = new Set(Object.values(oneofs).flatMap(({ oneof }) => oneof.slice(0, -1)));
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([field]) => !others.has(field))
      .map(([field, { type, rule, keyType }]) => {
        const value = SCALARS[type] ?? filled(type);
        if (keyType) return [field, { 'ü€😀': value }];
        return [field, rule === 'repeated' ? [value, value] : value];
      }),
  );
}

type Message = {
  fields?: Record<string, { type: string; rule?: string; keyType?: string }>;
  oneofs?: Record<string, { oneof: string[] }>;
};
const root = new protobuf.Root().loadSync(join(import.meta.dirname, 'agent.proto'), { keepCase: true });
const MESSAGES = root.lookup('svc.agent.v1')?.toJSON()['nested'] as Record<string, Message>;
const SCALARS: Record<string, unknown> = {
  string: 'ü€😀',
  bytes: Buffer.from([0, 127, 255]),
  bool: true,
  double: 0.1,
  int32: -(2 ** 31),
  int64: 2 ** 53 - 1,
  uint32: 2 ** 32 - 1,
  uint64: 2 ** 53 - 1,
};

it.each(Object.keys(ours))('reads and writes the messages of %s as the loader of grpc does', (name) => {
  const [mine, theirs] = [ours[name], loaded[name]];
  const { requestType = '', responseType = '' } = root.lookupService('svc.agent.v1.Agent').methods[name] ?? {};
  if (!mine || !theirs) throw new Error(name);
  for (const request of [{}, filled(requestType)]) {
    const bytes = theirs.requestSerialize(request);
    expect(mine.requestSerialize(request)).toEqual(bytes);
    expect(mine.requestDeserialize(bytes)).toEqual(theirs.requestDeserialize(bytes));
  }
  for (const reply of [{}, filled(responseType)]) {
    const bytes = theirs.responseSerialize(reply);
    expect(mine.responseSerialize(reply)).toEqual(bytes);
    expect(mine.responseDeserialize(bytes)).toEqual(theirs.responseDeserialize(bytes));
  }
});
