/** FTP, SSH with SFTP, SMTP and HTTP on loopback, for tasks of provider packages; one process, which ends with this one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endsWithThisProcess } from '../ends-with-this-process.ts';

export const LOCAL_USER = 'ada';
export const LOCAL_PASSWORD = 'local-secret-1815';

type Ports = { http: number; ftp: number; ftps?: number; smtp: number; ssh: number; folder: string };
type Received = {
  requests: { method: string; path: string; headers: Record<string, string>; body: string }[];
  mails: { from: string; to: string[]; text: string }[];
};

/** `certificate`: files of one and of its key, for FTP over TLS. */
export async function startLocalServers(python: string, certificate: readonly [string, string] | [] = []) {
  const script = join(import.meta.dirname, 'local_servers.py');
  const child = spawn(python, [script, ...certificate], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  const lines = createInterface(child.stdout);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the local servers ended with ${String(code)}`);
  });
  ended.catch(() => {});
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  const ports = JSON.parse(line) as Ports;
  return {
    ...ports,
    async received(): Promise<Received> {
      return (await (await fetch(`http://127.0.0.1:${ports.http}/received`)).json()) as Received;
    },
    async stop(): Promise<void> {
      const gone = once(child, 'exit');
      child.stdin.end();
      child.kill('SIGTERM');
      await gone;
    },
  };
}
