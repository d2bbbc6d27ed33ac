/** Copies of the repositories beside this file, as people would have checked them out. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zipSync } from 'fflate';

const FOLDER = join(import.meta.dirname, 'repositories');

const NAMES = ['airflow2', 'astronomer', 'monorepo'];

export type RepositoryCopies = { root: string; remove(): void };

/** `astronomer`, `airflow2` and `monorepo`; the last with the zip that its readme speaks of. */
export function copyRepositories(): RepositoryCopies {
  const root = mkdtempSync(join(tmpdir(), 'svc-repositories-'));
  for (const name of NAMES) cpSync(join(FOLDER, name), join(root, name), { recursive: true });
  const orders = join(root, 'monorepo', 'orders');
  writeFileSync(join(orders, 'dags', 'packaged.zip'), zipOf(filesBelow(join(orders, 'packaged'))));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export const zipOf = (files: Record<string, Uint8Array>): Uint8Array => zipSync(files);

const filesBelow = (folder: string): Record<string, Uint8Array> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), new Uint8Array(readFileSync(path))]),
  );
