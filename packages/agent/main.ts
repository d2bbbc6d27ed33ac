import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { keepCompiledCode } from '@svc/spec/compiled-code.ts';
import { coded } from './coded.ts';
import { startFirstProcess, takeFirstProcess } from './first-process.ts';
import { talkTo } from './fork-server.ts';
import { SettingsError, joinedSettings, readSettings } from './settings.ts';

// In an image, deploy/agent-bundle/start.cjs has enabled the compile cache already.
if (!import.meta.filename.endsWith('.cjs')) keepCompiledCode();

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

const HELP = `Usage: svc-agent work | run | test-connection | sync-bundle | --version | --help

Runs task attempts for the svc control plane, which starts it; people do so for workers on other hosts.

  work   takes orders until its input closes
  work --server <host:port,host:port> --token-file <file>
         joins a control plane as a worker of this host, and takes orders until it is drained or stopped;
         of several servers it takes the first that answers, and moves to the next one when that is lost
           --queue <a,b>      queues it serves (default: all that its token allows)
           --slots <number>   tasks it runs at once (default: 1)
           --name <name>      what people call it (default: the name of the host)
           --ca-file <file>   PEM file of the authority that signed the control plane's certificate;
                              needed unless the control plane is on this host
  run    runs one attempt
  test-connection   reads a connection as JSON, and says whether it works
  sync-bundle       reads a bundle as JSON, fetches its source and compiles it

Environment:
  SVC_AGENT_TOKEN                 credential of the worker (work) or of the attempt (run)
  SVC_AGENT_TOKEN_FILE            instead: a token of the pod it runs in, exchanged for that credential
  SVC_AGENT_CONTROL_PLANE_ADDR    host:port of the control plane's agent RPC
  SVC_AGENT_LINE                  descriptor of the line to the control plane that has started it, which sets this
  SVC_AGENT_TLS_CA                PEM file of the authority to trust; without it the channel is not encrypted
  SVC_AGENT_ISOLATION             together, apart or pod: what attempts of a worker share (see docs/workers.md)
  SVC_AGENT_MAX_INTERPRETER_GROWTH_MB   how much a warm Python process may grow before it is replaced (256)
  SVC_AGENT_STOP_GRACE_MS         how long after SIGTERM it tries to report before it leaves without (15000)
  SVC_PYTHON                      interpreter for tasks without dependencies of their own
`;

const USAGE_ERROR = 2;

/** The reader may be gone: a control plane that died closes its end of the pipe. */
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
  const isKnown = ['work', 'run', 'test-connection', 'sync-bundle'].includes(command ?? '');
  if (!isKnown || (command !== 'work' && rest.length > 0)) {
    const problem = command === undefined ? 'nothing to do' : `unknown argument ${JSON.stringify(rest[0] ?? command)}`;
    say(coded('SVC8009', `${problem}: see svc-agent --help`));
    return USAGE_ERROR;
  }
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (command === 'test-connection') {
    const { testConnection } = await import('./test-connection.ts');
    const result = await testConnection({ stdin: process.stdin, env: process.env, say });
    await new Promise<void>((resolve) => void process.stdout.write(JSON.stringify(result), () => resolve()));
    return 0;
  }
  if (command === 'sync-bundle') {
    const { syncBundle } = await import('./bundles/sync-bundle.ts');
    return syncBundle({ stdin: process.stdin, stdout: process.stdout, env: process.env });
  }
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stopping.abort());
  if (command === 'run') {
    startFirstProcess(process.env); // unless it is running already
    const python = takeFirstProcess();
    const first = python && talkTo(python);
    const settings = readSettings(process.env);
    const { runOne } = await import('./run-one.ts');
    return runOne({ settings, env: process.env, stop: stopping.signal, say, first });
  }
  const { readJoinArguments } = await import('./join.ts');
  const join = readJoinArguments(rest);
  const settings = join ? joinedSettings(join) : readSettings(process.env);
  const input = { settings, env: process.env, stop: stopping.signal, say };
  const { work } = await import('./work.ts');
  flushCompileCache(); // a worker is often killed and would not write the cache then
  return work({ ...input, version: manifest.version, stdin: process.stdin });
}

// Exits explicitly: an open input must not keep a process that has nothing more to do. Not awaited, because in an image
// this file is a script, which cannot await at its top level.
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (!(error instanceof SettingsError)) throw error;
    say(coded('SVC8009', error.message));
    process.exit(USAGE_ERROR);
  },
);
