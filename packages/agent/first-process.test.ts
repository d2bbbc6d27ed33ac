import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const STATIC = /^(?:import|export) (?!type )(?:[^'";]+ from )?'([^']+)'/gm;

/** What is loaded with a file, before its first line runs; libraries by their names. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(STATIC)) {
    if (name.startsWith('.')) loadedWith(join(dirname(file), name), seen);
    else if (name.startsWith('@svc/')) loadedWith(require.resolve(name), seen);
    else seen.add(name);
  }
  return seen;
}

const librariesOf = (file: string): string[] =>
  [...loadedWith(join(import.meta.dirname, file))].filter((name) => !name.startsWith('/') && !name.startsWith('node:'));

it('Python is started before what the agent talks with is loaded: each takes as long as the other', () => {
  expect(librariesOf('first-process.ts')).toEqual([]);
  expect(librariesOf('main.ts')).not.toContain('@grpc/grpc-js');
  expect(librariesOf('run-one.ts')).toContain('@grpc/grpc-js'); // it would have been noticed
});
