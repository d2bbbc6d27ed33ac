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
// A pipe whose reader is slow still has to take what was written: 64 KiB fit into it, the rest waits in this process.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))),
);
// Said outright: a handle somebody forgot must not keep a finished command alive.
process.exit(code);
