// Writes generated/ from agent.proto. Run `node packages/proto/generate.ts` after a change; generated.test.ts detects a
// stale result.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { LOADER_OPTIONS } from './loader-options.ts';

const TOOL = createRequire(import.meta.url).resolve('@grpc/proto-loader/build/bin/proto-loader-gen-types.js');

export function generateTypes(outDir: string): void {
  const options = Object.entries(LOADER_OPTIONS).map(([name, value]) =>
    value === true ? `--${name}` : `--${name}=Number`,
  );
  const fixed = ['--grpcLib=@grpc/grpc-js', '--importFileExtension=.ts', '--includeComments', `--outDir=${outDir}`];
  execFileSync(process.execPath, [TOOL, ...options, ...fixed, 'agent.proto'], { cwd: import.meta.dirname });
  writeFileSync(join(outDir, 'messages.ts'), messages());
}

/**
 * Generates the code that protobufjs would create for each message on first use, and the methods of the service. A
 * process that is started for every attempt then neither parses the file nor generates code.
 */
function messages(): string {
  const root = new protobuf.Root();
  const { keepCase } = LOADER_OPTIONS;
  root.loadSync(join(import.meta.dirname, 'agent.proto'), { keepCase }).resolveAll();
  const { nestedArray } = root.lookup('svc.agent.v1') as protobuf.Namespace;
  const types = nestedArray.filter((each) => each instanceof protobuf.Type);
  const service = root.lookupService('svc.agent.v1.Agent');
  return `// Original file: agent.proto
// @ts-nocheck: made by protobufjs
import protobuf from 'protobufjs/minimal.js';

const { Reader, Writer, util } = protobuf;

export const METHODS = ${JSON.stringify(Object.fromEntries(service.methodsArray.map(shapeOf)), null, 2)};

type GeneratedMessage = {
  fromObject(message: object): object;
  encode(message: object): protobuf.Writer;
  decode(bytes: Buffer): object;
  toObject(message: object, options: object): object;
};

export const MESSAGES: Record<string, GeneratedMessage> = {
${types.map(codeOf).join(',\n')}
};
`;
}

const shapeOf = (method: protobuf.Method): [string, object] => [
  method.name,
  {
    request: method.requestType,
    reply: method.responseType,
    requestStream: method.requestStream === true,
    responseStream: method.responseStream === true,
  },
];

/** Returns the functions that `Type.setup` would create, as text. */
function codeOf(type: protobuf.Type): string {
  const { fieldsArray, name } = type;
  const functions = {
    ctor: protobuf.Type.generateConstructor(type),
    encode: protobuf.encoder(type),
    decode: protobuf.decoder(type),
    fromObject: protobuf.converter.fromObject(type),
    toObject: protobuf.converter.toObject(type),
  };
  const texts = Object.entries(functions).map(([key, code]) => {
    const text = code.toString().replaceAll(/\btypes\[(\d+)\]/g, (_, index: string) => {
      return `MESSAGES.${fieldsArray[Number(index)]?.resolvedType?.name}`;
    });
    return `${key}: ${text}`;
  });
  return `${name}: {\n${texts.join(',\n')}\n}`;
}

if (import.meta.main) generateTypes(join(import.meta.dirname, 'generated'));
