/** A real Redis (the Debian package redis-server) on loopback, which tests stop, hold and fill as they like. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { makeCertificates } from './certificates.ts';
import { freePort } from './free-port.ts';

export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/** `tls`: by TLS only, with a certificate of an authority of its own. `args`: as on its command line. */
export async function startRedis({ tls = false, args = [] }: { tls?: boolean; args?: readonly string[] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-redis-'));
  const certificates = tls ? makeCertificates(directory) : undefined;
  const port = await freePort();
  let child: ChildProcess | undefined;
  let forget: (() => void) | undefined;

  async function start(): Promise<void> {
    const listener = certificates
      ? ['--port', '0', '--tls-port', `${port}`, '--tls-cert-file', certificates.certFile, '--tls-key-file', certificates.keyFile, '--tls-ca-cert-file', certificates.caFile, '--tls-auth-clients', 'no'] // prettier-ignore
      : ['--port', `${port}`];
    const base = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
    const started = spawn('redis-server', [...listener, ...base, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    await new Promise<void>((resolve, reject) => {
      const said: string[] = [];
      started.once('error', () => reject(new Error('redis-server is missing: apt-get install redis-server')));
      started.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${said.join('\n')}`)));
      createInterface(started.stdout).on('line', (line) => {
        said.push(line);
        if (line.includes('Ready to accept connections')) resolve();
      });
    });
    started.removeAllListeners('exit');
    forget = endsWithThisProcess({ directory, pids: [started.pid ?? 0] });
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    await gone;
    forget?.();
  }

  /** By redis-cli, so that the client under test is not its own witness. */
  const cli = (...command: string[]): string => {
    const secure = certificates ? ['--tls', '--cacert', certificates.caFile] : [];
    return execFileSync('redis-cli', ['-p', `${port}`, ...secure, ...command], { encoding: 'utf8' }).trim();
  };

  await start();
  return {
    port,
    caFile: certificates?.caFile ?? '',
    url: (user = '') => `${tls ? 'rediss' : 'redis'}://${user === '' ? '' : `${user}@`}127.0.0.1:${port}`,
    cli,
    /** What lies there now. */
    keys: () => cli('KEYS', '*').split('\n').filter(Boolean),
    start,
    stop,
    /** It takes connections and answers nothing. */
    hold: () => void child?.kill('SIGSTOP'),
    letGo: () => void child?.kill('SIGCONT'),
    async close(): Promise<void> {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
