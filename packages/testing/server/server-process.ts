/** The control plane as its users run it: `svc server`, a process of its own. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { PROGRAM_ARGUMENTS } from '../node-arguments.ts';
import { ROOT } from '../paths.ts';

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  logLines(): readonly string[];
  /** The exit code or signal, once all it had to say was read; null before. */
  exited(): number | string | null;
  /** Resolves when /readyz says yes; rejects when the process ends first. */
  untilReady(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
};

export type ServerProcessOptions = {
  /** Configuration keys. */
  settings: Record<string, string>;
  nodeArgs?: readonly string[];
  /** Lists and maps, which have no variables. */
  flags?: readonly string[];
  /** Beside its settings. */
  env?: Record<string, string>;
  cwd?: string;
  /** Its output goes there without passing through this process, which under load would compete with it. */
  logFile?: string;
};

export const PROCESS_ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };
export const PROCESS_SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';

const START_TIMEOUT_MS = 240_000;

/** Resolves when it listens, which is before it is ready. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { logFile } = options;
  const child = spawnServer(options);
  const logLines = followLog(child, logFile);
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  let ended: number | string | null = null;
  child.once('close', (code, signal) => (ended = code ?? signal));
  const exited = (): number | string | null => ended;
  const failIfExited = (): void => {
    if (ended !== null) throw new Error(`svc server ended with ${ended}:\n${logLines().slice(-20).join('\n')}`);
  };

  const url = await listeningUrl(child, logLines, failIfExited);
  return {
    url,
    pid: child.pid ?? 0,
    logLines,
    exited,
    async untilReady() {
      while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
        failIfExited();
        await sleep(50);
      }
    },
    async stop(signal = 'SIGTERM') {
      if (ended === null) {
        const gone = once(child, 'close');
        child.kill(signal);
        await gone;
      }
      return exited() ?? 'running';
    },
  };
}

function spawnServer(options: ServerProcessOptions): ChildProcess {
  const { settings, flags = [], nodeArgs = [], env = {}, cwd, logFile } = options;
  const all = {
    'server.http_addr': '127.0.0.1:0',
    'server.metrics_addr': '127.0.0.1:0',
    'server.grpc_addr': '127.0.0.1:0',
    'auth.jwt.secret': 'test-jwt-secret-test-jwt-secret-0123456789',
    secret_key: PROCESS_SECRET_KEY,
    'auth.bootstrap.email': PROCESS_ADMIN.email,
    'auth.bootstrap.password': PROCESS_ADMIN.password,
    'observability.otel.enabled': 'false',
    'executor.type': 'subprocess', // there is no cluster
    ...settings,
  };
  const variables = Object.entries(all).map(([key, value]) => [`SVC_${key.replaceAll('.', '_').toUpperCase()}`, value]);
  const output = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
  // As in bin/svc.
  const asStarted = [...PROGRAM_ARGUMENTS, '--max-semi-space-size=8'];
  const main = join(ROOT, 'packages', 'cli', 'main.ts');
  return spawn(process.execPath, [...asStarted, ...nodeArgs, main, 'server', ...flags], {
    env: { PATH: process.env['PATH'], KUBECONFIG: process.env['KUBECONFIG'], ...env, ...Object.fromEntries(variables) },
    stdio: ['ignore', output, output],
    ...(cwd !== undefined && { cwd }),
  });
}

function followLog(child: ChildProcess, logFile: string | undefined): () => readonly string[] {
  if (logFile !== undefined) return () => readFileSync(logFile, 'utf8').split('\n');
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return () => lines;
}

async function listeningUrl(
  child: ChildProcess,
  logLines: () => readonly string[],
  failIfExited: () => void,
): Promise<string> {
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(20)) {
    const line = logLines().find((line) => line.includes('"listening"'));
    if (line !== undefined) return (JSON.parse(line) as { url: string }).url;
    failIfExited();
    if (Date.now() > deadline) child.kill('SIGKILL');
  }
}
