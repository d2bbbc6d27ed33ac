/** A real PgBouncer (the Debian package pgbouncer) on loopback, between tests and the Postgres that they share. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { freePort } from './free-port.ts';

export type PoolMode = 'session' | 'transaction' | 'statement';

export type TestPgBouncer = {
  /** The same database and user, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
};

/** `ignored`: settings that it accepts and drops, as many installations are told to. */
export async function startPgBouncer(input: {
  /** Of the Postgres behind it. */
  url: string;
  mode: PoolMode;
  ignored?: readonly string[];
  poolSize?: number;
}): Promise<TestPgBouncer> {
  const { mode, ignored = [], poolSize = 20 } = input;
  const target = new URL(input.url);
  const directory = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'));
  const port = await freePort();
  const host = target.searchParams.get('host') ?? target.hostname;
  const password = decodeURIComponent(target.password);
  const server = [`host=${host}`, `port=${target.port || 5432}`, ...(password === '' ? [] : [`password=${password}`])];
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: poolSize,
    max_client_conn: 500,
    ...(ignored.length > 0 && { ignore_startup_parameters: ignored.join(',') }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  // With auth_type any, one user is named for all: that of the Postgres behind it.
  const database = `* = ${[...server, `user=${decodeURIComponent(target.username)}`].join(' ')}`;
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 });
  const child = spawn(command(), [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const forget = endsWithThisProcess({ directory, pids: child.pid === undefined ? [] : [child.pid] });
  await new Promise<void>((resolve, reject) => {
    const said: string[] = [];
    child.once('error', () => reject(new Error('pgbouncer is missing: apt-get install pgbouncer')));
    child.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}:\n${said.join('\n')}`)));
    createInterface(child.stderr).on('line', (line) => {
      said.push(line);
      if (line.includes('process up')) resolve();
    });
  });
  child.removeAllListeners('exit');
  return {
    through(url) {
      const pooled = new URL(url);
      pooled.hostname = '127.0.0.1';
      pooled.port = String(port);
      pooled.searchParams.delete('host');
      return pooled.toString();
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
      forget();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Debian puts it where only root looks for commands. */
function command(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(existsSync) ?? 'pgbouncer';
}
