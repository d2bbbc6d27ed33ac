/** For a program that was started without it, by `node` itself. */
import { createRequire } from 'node:module';

export function keepCompiledCode(): void {
  createRequire(import.meta.url)('./compiled-code.cjs');
}
