/**
 * Loaded into each worker before anything else (`--import`): what test files import is compiled once, not once per worker. Not
 * by NODE_COMPILE_CACHE, which every program that a test starts would inherit.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'svc-tests');
const KEPT_MS = 24 * 3_600_000;

enableCompileCache(FOLDER);

/** A module's place is its URL, and Vitest gives each test and set-up file a new one in every run: what is a day old goes. */
export function forgetOldCode(): void {
  try {
    for (const entry of readdirSync(FOLDER, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile() && Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file);
    }
  } catch {
    // nothing there yet, or another run was faster
  }
}
