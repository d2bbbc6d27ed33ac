// Makes the programs of this checkout a few files, in node_modules/.cache. A control plane has 1,900 modules, two thirds of them
// of libraries: to find and link them is most of its start and a quarter of its memory (npm run bench -- lite).
//
//   node scripts/bundle-programs.ts            # after `npm ci` by itself, and before tests where something has changed
//
// Programs run from it while no source has changed since, and from the sources otherwise (packages/spec/bundle.cjs).

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import { BUNDLES, CURRENT, INSTALLED, PROGRAMS, ROOT, freshBundle, stampOf } from '../packages/spec/bundle.cjs';

const LIBRARIES = join(ROOT, 'node_modules');
/** Native code is loaded from beside the library that it belongs to. */
const LEFT_OUT = [/^@node-rs\//, '@parcel/watcher', 'pg-native'];
/** A program that runs from a bundle may load parts of it much later. */
const KEPT_MS = 86_400_000;

/** Modules find what lies beside them by their own place, which is no longer where their code is. */
const ownPlaces: Plugin = {
  name: 'own-places',
  transform: {
    filter: { code: /import\.meta|__dirname|__filename/ },
    handler: (code, id) =>
      code
        .replaceAll(/\bimport\.meta\.dirname\b|\b__dirname\b/g, JSON.stringify(dirname(id)))
        .replaceAll(/\bimport\.meta\.filename\b|\b__filename\b/g, JSON.stringify(id))
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(id).href)),
  },
};

/** Does nothing when there is one of the sources as they are. */
export async function bundlePrograms(): Promise<void> {
  if (freshBundle() !== undefined) return;
  const { build } = await import('rolldown');
  mkdirSync(BUNDLES, { recursive: true });
  const directory = mkdtempSync(join(BUNDLES, 'bundle-'));
  chmodSync(directory, 0o755); // for whoever may read the libraries
  const stamps: Record<string, string> = { [INSTALLED]: stampOf(INSTALLED) };
  const noteSources: Plugin = {
    name: 'note-sources',
    load(id) {
      // Before it is read: who changes it now changes the stamp, too.
      if (id.startsWith(ROOT) && !id.startsWith(LIBRARIES)) stamps[relative(ROOT, id)] = stampOf(relative(ROOT, id));
    },
  };
  await build({
    input: Object.fromEntries(PROGRAMS.map((name) => [name, join(ROOT, 'packages', name, 'main.ts')])),
    platform: 'node',
    external: LEFT_OUT,
    plugins: [noteSources, ownPlaces],
    output: { dir: directory, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    logLevel: 'warn',
  });
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
  const current = `${directory}.json`;
  writeFileSync(current, JSON.stringify({ folder: basename(directory), stamps }));
  renameSync(current, CURRENT);
  for (const name of readdirSync(BUNDLES)) {
    const path = join(BUNDLES, name);
    if (statSync(path).mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

if (import.meta.main) await bundlePrograms();
