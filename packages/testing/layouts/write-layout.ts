import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesOf } from './layouts.ts';
import type { Layout } from './layouts.ts';

/** Writes a repository below `folder` and returns where it is. */
export function writeLayout(layout: Layout, folder: string, files = filesOf(layout)): string {
  const root = join(folder, layout.name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}
