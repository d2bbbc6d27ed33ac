// Starts the bundle with the code that V8 has compiled before, kept beside it when the image is built. Not by
// NODE_COMPILE_CACHE: what tasks start would inherit it.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, 'compiled'));
await import('./main.js');
