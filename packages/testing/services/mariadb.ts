/** A real MariaDB (the Debian package mariadb-server) on loopback and a socket, as a user without rights. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { makeCertificates } from './certificates.ts';
import { freePort } from './free-port.ts';

export type TestMariadb = Awaited<ReturnType<typeof startMariadb>>;

const START_TIMEOUT_MS = 240_000;
/** Debian keeps it where only root looks for programs. */
const env = { ...process.env, PATH: [process.env['PATH'] ?? '', '/usr/sbin'].join(delimiter) };

/** `args`: as on its command line. */
export async function startMariadb({ args = [] }: { args?: readonly string[] } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-mariadb-'));
  const certificates = makeCertificates(directory);
  const socket = join(directory, 'mariadb.sock');
  const log = join(directory, 'mariadb.log');
  const port = await freePort();
  const user = giveAway(directory);
  const data = ['--no-defaults', ...user, `--datadir=${join(directory, 'data')}`];
  try {
    const make = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'];
    execFileSync('mariadb-install-db', [...data, ...make], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error('no MariaDB can be made: apt-get install mariadb-server', { cause: error });
  }
  const listeners = [`--socket=${socket}`, '--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve'];
  const files = [`--log-error=${log}`, `--pid-file=${join(directory, 'mariadb.pid')}`];
  const tls = [
    `--ssl-ca=${certificates.caFile}`,
    `--ssl-cert=${certificates.certFile}`,
    `--ssl-key=${certificates.keyFile}`,
  ];
  const options = [...data, ...listeners, ...files, ...tls, '--innodb-flush-log-at-trx-commit=0', ...args];
  const child = spawn('mariadbd', options, { env, stdio: 'ignore' });
  const forget = endsWithThisProcess({ directory, pids: [child.pid ?? 0] });

  const ask = async (statement: string): Promise<void> => {
    const client = await createConnection({ socketPath: socket, user: 'root' });
    await client.query(statement).finally(() => client.end());
  };
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(50)) {
    const isUp = await ask('select 1').then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (child.exitCode === null && Date.now() < deadline) continue;
    throw new Error(`mariadbd does not answer:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
  }
  await ask(`create user tester@'%' identified by 'pass/word'; `);
  await ask(`grant all on *.* to tester@'%'`);
  let made = 0;
  return {
    port,
    socket,
    caFile: certificates.caFile,
    ask,
    /** An empty database as Airflow's documentation says to make one; its URL. */
    async createDatabase(): Promise<string> {
      const name = `airflow_${(made += 1)}`;
      await ask(`create database ${name} character set utf8mb4 collate utf8mb4_unicode_ci`);
      return `mysql://tester:pass%2Fword@127.0.0.1:${port}/${name}`;
    },
    async close(): Promise<void> {
      if (child.exitCode === null) {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }
      forget();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** It does not run as root. */
function giveAway(directory: string): string[] {
  if (process.getuid?.() !== 0) return [];
  const number = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }));
  for (const path of [directory, ...readdirSync(directory).map((name) => join(directory, name))])
    chownSync(path, number, number);
  chmodSync(directory, 0o755);
  return ['--user=nobody'];
}
