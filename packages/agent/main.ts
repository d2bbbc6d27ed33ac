import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { keepCompiledCode } from '@svc/spec/compiled-code.ts';
import { startFirstServer } from './first-server.ts';
import { SettingsError, readSettings } from './settings.ts';

keepCompiledCode();

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

const HELP = `Usage: svc-agent work | run | test-connection | --version | --help

Runs task attempts for the svc control plane. The control plane starts it; people rarely do.

  work   takes orders until its input closes
  run    runs one attempt
  test-connection   reads a connection as JSON, and says whether it works

Environment:
  SVC_AGENT_TOKEN                 credential of the worker (work) or of the attempt (run)
  SVC_AGENT_TOKEN_FILE            instead: a token of the pod it runs in, exchanged for the attempt's credential (run)
  SVC_AGENT_CONTROL_PLANE_ADDR    host:port of the control plane's agent RPC
  SVC_AGENT_TLS_CA                PEM file of the authority to trust; without it the channel is not encrypted
  SVC_PYTHON                      interpreter for tasks without dependencies of their own
`;

const USAGE_ERROR = 2;

/** The reader may be gone: a control plane that died takes its end of the pipe along. */
function say(text: string): void {
  process.stderr.write(`svc-agent: ${text}\n`);
}

async function main([command, ...rest]: readonly string[]): Promise<number> {
  if (command === '--version' || command === '-V') {
    process.stdout.write(`${manifest.version}\n`);
    return 0;
  }
  if (command === '--help' || command === '-h') {
    process.stdout.write(HELP);
    return 0;
  }
  if (!['work', 'run', 'test-connection'].includes(command ?? '') || rest.length > 0) {
    const problem = command === undefined ? 'nothing to do' : `unknown argument ${JSON.stringify(rest[0] ?? command)}`;
    say(`${problem}: see svc-agent --help`);
    return USAGE_ERROR;
  }
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (command === 'test-connection') {
    const { testConnection } = await import('./test-connection.ts');
    const result = await testConnection({ stdin: process.stdin, env: process.env, say });
    await new Promise<void>((resolve) => void process.stdout.write(JSON.stringify(result), () => resolve()));
    return 0;
  }
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stopping.abort());
  const input = { settings: readSettings(process.env), env: process.env, stop: stopping.signal, say };
  if (command === 'run') {
    const first = startFirstServer(process.env);
    const { runOne } = await import('./run-one.ts');
    return runOne({ ...input, first });
  }
  const { work } = await import('./work.ts');
  flushCompileCache(); // a worker is often killed, and would not leave it
  return work({ ...input, version: manifest.version, stdin: process.stdin });
}

/** Leaves for good: an input that nobody closes must not keep a process that has nothing more to do. */
try {
  process.exit(await main(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  say(error.message);
  process.exit(USAGE_ERROR);
}
