import { keepCompiledCode } from '@svc/spec/compiled-code.ts';

keepCompiledCode();
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
