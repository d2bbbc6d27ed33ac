/** Where `svc migrate` brings an Airflow to: a control plane, and a MariaDB for those whose metadata is there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Counts, Entry } from '@svc/cli/migrate/report.ts';
import { runSvc } from '../cli/run-in-process.ts';
import { startTestServer } from '../server/test-server.ts';
import { startMariadb } from '../services/mariadb.ts';
import { newFernetKey } from './metadata-database.ts';
import { SECRETS } from './sample-metadata.ts';

export type MigrationOutcome = {
  counts: Record<string, Counts>;
  entries: Entry[];
  notes: { text: string }[];
  task_instances: number;
};

export type MigrationTarget = Awaited<ReturnType<typeof startMigrationTarget>>;

export async function startMigrationTarget() {
  const server = await startTestServer();
  // A server whose dates are not in UTC unless it is asked.
  const mariadb = await startMariadb({ args: ['--default-time-zone=+05:30'] });
  const directory = mkdtempSync(join(tmpdir(), 'svc-migrate-'));
  const keys = { current: newFernetKey(), old: newFernetKey() };
  const keyFile = join(directory, 'fernet.key');
  writeFileSync(keyFile, `${keys.current},${keys.old}\n`);
  const env = {
    XDG_CONFIG_HOME: directory,
    SVC_DATABASE_URL: server.config.database.url,
    SVC_SECRET_KEY: server.config.secretKey,
  };
  return {
    server,
    mariadb,
    directory,
    keys,
    env,
    /** Of JSON; everything that was printed must be free of secrets. */
    async migrate(from: string, ...argv: string[]): Promise<MigrationOutcome> {
      const words = ['migrate', '--from', from, '--fernet-key-file', keyFile, '--json', ...argv];
      const outcome = await runSvc(words, { env });
      expect(outcome).toMatchObject({ code: 0, stderr: '' });
      for (const secret of SECRETS) expect(outcome.stdout).not.toContain(secret);
      return JSON.parse(outcome.stdout) as MigrationOutcome;
    },
    /** With somebody who may read everything of it: `tokenOf`. */
    async addTenant(name: string): Promise<string> {
      await runSvc(['tenants', 'create', name, '--admin', `admin@${name}.example.com`], { env });
      const tenants = server.db.shared.selectFrom('tenants').select('id').where('name', '=', name);
      const { id } = await tenants.executeTakeFirstOrThrow();
      await server.addUser({ email: `reader@${name}.example.com`, roles: ['admin'], tenant: name });
      return id;
    },
    tokenOf: (tenant: string): Promise<string> => server.login(`reader@${tenant}.example.com`, tenant),
    async close(): Promise<void> {
      await server.close();
      await mariadb.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
