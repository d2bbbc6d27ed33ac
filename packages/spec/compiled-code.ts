/** Turns on the cache of compiled code for a program that `node` itself started. */
import { createRequire } from 'node:module';

export function keepCompiledCode(): void {
  createRequire(import.meta.url)('./compiled-code.cjs');
}
