import { keepCompiledCode } from '@svc/spec/compiled-code.ts';

keepCompiledCode();
const { runCli } = await import('./program.ts');

// `svc users list | head -1` closes our output early, which is not a failure.
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
// A slow reader must still receive everything. A pipe holds 64 KiB, and the rest waits in this process.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))),
);
// The explicit exit ends a finished command even if a handle is still open.
process.exit(code);
