/** A digest of the content of a folder, for a tag that changes with it. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SKIPPED = new Set(['__pycache__', 'node_modules', 'venv']);

/**
 * Hashes names and content in order. Hidden files and folders do not count, and neither do files that Python and Node
 * generate.
 */
export function folderHash(folder: string): string {
  const hash = createHash('sha256');
  const visit = (path: string, shown: string): void => {
    const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const { name } = entry;
      if (name.startsWith('.') || SKIPPED.has(name) || name.endsWith('.pyc')) continue;
      if (entry.isDirectory()) visit(join(path, name), `${shown}${name}/`);
      else if (entry.isFile())
        hash.update(`${shown}${name}\0`).update(
          createHash('sha256')
            .update(readFileSync(join(path, name)))
            .digest(),
        );
    }
  };
  visit(folder, '');
  return hash.digest('hex');
}
