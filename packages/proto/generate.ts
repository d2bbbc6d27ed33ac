// Writes generated/ from agent.proto. `node packages/proto/generate.ts` after a change; generated.test.ts finds a stale one.
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
  writeFileSync(join(outDir, 'description.ts'), description());
}

/** The file as data: what is started for every attempt does not have to parse it. */
function description(): string {
  const root = new protobuf.Root();
  const { keepCase } = LOADER_OPTIONS;
  root.loadSync(join(import.meta.dirname, 'agent.proto'), { keepCase });
  return `// Original file: agent.proto
import type { INamespace } from 'protobufjs/light.js';

// The library's type asks for comments that its own output does not have.
export const DESCRIPTION = ${JSON.stringify(root.toJSON(), null, 2)} as unknown as INamespace;
`;
}

if (import.meta.main) generateTypes(join(import.meta.dirname, 'generated'));
