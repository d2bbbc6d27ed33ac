// TypeScript made into JavaScript, and that into code, once per version instead of at every start. Loaded before a program
// (bin/), and JavaScript itself: what makes TypeScript into it need then not be loaded at all, which is 16 MB of each process. Processor time of a start,
// without and with it: control plane 2.1 and 1.0 s, worker 0.29 and 0.10 s, tool server 0.45 and 0.23 s (`npm run bench -- lite`,
// `/usr/bin/time`).
//
// In the user's own cache: what lies in a directory that others may write to is not code to run. Where it cannot be written,
// all works without; in an image, what was compiled for it is used (deploy/agent-bundle/start.cjs).
const { enableCompileCache, flushCompileCache } = require('node:module');
const { homedir } = require('node:os');
const { join } = require('node:path');

enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'svc', 'compiled'));
// Node writes it when a process ends by itself: one that runs for weeks, or is killed, would leave the next as slow as it was.
setTimeout(flushCompileCache, 20_000).unref();
require('./bundle.cjs').preferBundle();
