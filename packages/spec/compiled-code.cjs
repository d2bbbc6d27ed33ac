// Compiles TypeScript to JavaScript, and JavaScript to code, once per version instead of at every start. It is loaded
// before a program (bin/) and is JavaScript itself. The compiler of TypeScript then need not be loaded, which saves
// memory in each process. It halves the processor time of a start (`npm run bench -- lite`).
//
// The cache is in the user's own directory, because code from a directory that others may write to must not run. If the
// directory cannot be written, everything works without the cache. In an image, the code that was compiled for it is
// used (deploy/agent-bundle/start.cjs).
const { enableCompileCache, flushCompileCache } = require('node:module');
const { homedir } = require('node:os');
const { join } = require('node:path');

enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'compiled'));
// Node writes the cache when a process ends normally. A process that runs for weeks or is killed would not write it.
setTimeout(flushCompileCache, 20_000).unref();
require('./bundle.cjs').preferBundle();
