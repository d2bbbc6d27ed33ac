// Writes generated/ from agent.proto. `node packages/proto/generate.ts` after a change; generated.test.ts finds a stale one.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LOADER_OPTIONS } from './loader-options.ts';

const TOOL = createRequire(import.meta.url).resolve('@grpc/proto-loader/build/bin/proto-loader-gen-types.js');

export function generateTypes(outDir: string): void {
  const options = Object.entries(LOADER_OPTIONS).map(([name, value]) =>
    value === true ? `--${name}` : `--${name}=Number`,
  );
  const fixed = ['--grpcLib=@grpc/grpc-js', '--importFileExtension=.ts', '--includeComments', `--outDir=${outDir}`];
  execFileSync(process.execPath, [TOOL, ...options, ...fixed, 'agent.proto'], { cwd: import.meta.dirname });
}

if (import.meta.main) generateTypes(join(import.meta.dirname, 'generated'));
