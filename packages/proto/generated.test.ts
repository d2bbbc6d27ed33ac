import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generateTypes } from './generate.ts';

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]),
  );

it('types that lag behind agent.proto are found: run `node packages/proto/generate.ts`', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'svc-proto-'));
  try {
    generateTypes(fresh);
    expect(contents(join(import.meta.dirname, 'generated'))).toEqual(contents(fresh));
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});
