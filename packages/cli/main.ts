import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Before the program is loaded: TypeScript made into JavaScript, and that into code, once per version instead of at every
// start (2.1 s of processor time for the control plane, 1.0 s with it; `npm run bench -- lite`). In the user's own cache:
// what lies in a directory that others may write to is not code to run. Where it cannot be written, all works without.
enableCompileCache(join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'svc', 'compiled'));
const { runCli } = await import('./program.ts');

// `svc users list | head -1` closes our output early, which is no failure of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
}

const code = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
// Said outright: a handle somebody forgot must not keep a finished command alive. Output to pipes, files and terminals
// is synchronous, so nothing is cut off.
process.exit(code);
