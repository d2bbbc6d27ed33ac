/** The control plane as its users run it: `svc server`, a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  readonly logLines: readonly string[];
  /** The exit code or signal; null while it runs. */
  exited(): number | string | null;
  /** Resolves when /readyz says yes; rejects when the process ends first. */
  untilReady(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
};

export const PROCESS_ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };

const START_TIMEOUT_MS = 60_000;
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Resolves when it listens, which is before it is ready. `settings` are configuration keys. */
export async function startServerProcess(input: {
  settings: Record<string, string>;
  nodeArgs?: readonly string[];
}): Promise<ServerProcess> {
  const settings = {
    'server.http_addr': '127.0.0.1:0',
    'server.metrics_addr': '127.0.0.1:0',
    'server.grpc_addr': '127.0.0.1:0',
    'auth.jwt.secret': 'test-jwt-secret-test-jwt-secret-0123456789',
    secret_key: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'auth.bootstrap.email': PROCESS_ADMIN.email,
    'auth.bootstrap.password': PROCESS_ADMIN.password,
    'observability.otel.enabled': 'false',
    ...input.settings,
  };
  const variables = Object.entries(settings).map(([key, value]) => [
    `SVC_${key.replaceAll('.', '_').toUpperCase()}`,
    value,
  ]);
  const args = [...(input.nodeArgs ?? []), join(ROOT, 'packages', 'cli', 'main.ts'), 'server'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...Object.fromEntries(variables) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logLines: string[] = [];
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      logLines.push(line);
      if (line.includes('"listening"')) resolve((JSON.parse(line) as { url: string }).url);
    });
  });
  createInterface({ input: child.stderr }).on('line', (line) => logLines.push(line));
  const exited = (): number | string | null => child.exitCode ?? child.signalCode;
  const failIfExited = (): void => {
    if (exited() !== null) throw new Error(`svc server ended with ${exited()}:\n${logLines.slice(-20).join('\n')}`);
  };
  // 'close' and not 'exit': by then its last words have been read.
  const silence = sleep(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    child.kill('SIGKILL');
    throw new Error(`svc server does not listen after ${START_TIMEOUT_MS} ms:\n${logLines.slice(-20).join('\n')}`);
  });
  const url = await Promise.race([listening, once(child, 'close').then(failIfExited), silence]);
  if (url === undefined || child.pid === undefined) throw new Error('svc server did not start');

  return {
    url,
    pid: child.pid,
    logLines,
    exited,
    async untilReady() {
      while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
        failIfExited();
        await sleep(50);
      }
    },
    async stop(signal = 'SIGTERM') {
      if (exited() === null) {
        const gone = once(child, 'close');
        child.kill(signal);
        await gone;
      }
      return exited() ?? 'running';
    },
  };
}
