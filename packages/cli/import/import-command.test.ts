import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { copyRepositories } from '@svc/testing/repositories.ts';
import { ADMIN_EMAIL, TEST_PASSWORD, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let server: TestServer;
let directory: string;
let env: Record<string, string>;
let project: string;
let removeCopies: () => void;

beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '1000' });
  directory = mkdtempSync(join(tmpdir(), 'svc-import-'));
  env = { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: server.url };
  const copies = copyRepositories();
  removeCopies = copies.remove;
  project = join(copies.root, 'astronomer');
  writeFileSync(
    join(project, '.env'),
    'AIRFLOW_CONN_FILES=ftp://me:pass@files.example.org:21/in\nAIRFLOW_VAR_SHOP_CITY=Basel\nAIRFLOW_VAR_RATE={"chf": 0.94}\nPLAIN=1\n',
  );
  await runSvc(['auth', 'login', '--username', ADMIN_EMAIL, '--password-stdin'], { env, input: `${TEST_PASSWORD}\n` });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
  removeCopies();
});
beforeEach(async () => {
  await server.db.shared.deleteFrom('connections').execute();
  await server.db.shared.deleteFrom('variables').execute();
  await server.db.shared.deleteFrom('pools').where('name', '!=', 'default_pool').execute();
});

type Row = { kind: string; name: string; from: string; status: string };
const svc = (...argv: string[]) => runSvc(argv, { env });
async function rowsOf(...argv: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await svc('import', ...argv, '--json');
  if (code !== 0) throw new Error(stderr);
  const { entities } = JSON.parse(stdout) as { entities: Row[] };
  return entities.map(({ kind, name, from, status }) => `${kind} ${name} from ${from}: ${status}`).sort();
}
const fetched = async <T>(path: string): Promise<T> =>
  (await server.call(`/api/v2${path}`, { token: await server.login() })).json<T>();

describe('svc import', () => {
  it('takes over what an Astronomer project holds, and leaves what exists unless told otherwise', async () => {
    expect(await rowsOf(project, '--dry-run')).toHaveLength(5);
    expect(await fetched('/variables')).toMatchObject({ total_entries: 0 });
    expect(await rowsOf(project)).toEqual([
      'connections files from .env: created',
      'connections shop_db from airflow_settings.yaml: created',
      'pools shop_pool from airflow_settings.yaml: created',
      'variables rate from .env: created',
      // Said twice: the environment counts, as for Airflow.
      'variables shop_city from .env: created',
    ]);
    expect(await fetched('/connections/shop_db')).toMatchObject({
      conn_type: 'postgres',
      host: 'db.example.org',
      schema: 'shop',
      login: 'reader',
      port: 5432,
      extra: '{"sslmode":"require"}',
    });
    expect(await fetched('/connections/files')).toMatchObject({ conn_type: 'ftp', login: 'me', port: 21 });
    expect(await fetched('/pools/shop_pool')).toMatchObject({ slots: 3, description: 'queries at once' });

    await svc('variables', 'set', 'shop_city', 'Geneva');
    expect(await rowsOf(project)).toContain('variables shop_city from .env: left');
    expect(await fetched('/variables/shop_city')).toMatchObject({ value: 'Geneva' });
    expect(await rowsOf(project, '--overwrite')).toContain('variables shop_city from .env: changed');
    expect(await fetched('/variables/shop_city')).toMatchObject({ value: 'Basel' });
  });

  it('reads what Airflow exports, by the name of the file or by --as', async () => {
    const write = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const pools = write('pools.json', '{"big": {"slots": 9, "description": "", "include_deferred": true}}');
    const other = write('export.yaml', 'db:\n  conn_type: mysql\n  host: h\n');
    const masked = write('variables.json', '{"api_key": "***", "plain": "x"}');
    expect(await rowsOf(pools, masked)).toEqual([
      'pools big from pools.json: created',
      'variables api_key from variables.json: left',
      'variables plain from variables.json: created',
    ]);
    expect(await fetched('/pools/big')).toMatchObject({ slots: 9, include_deferred: true });
    expect(await svc('import', other)).toMatchObject({ code: 2, stderr: expect.stringContaining('--as connections') });
    expect(await rowsOf(other, '--as', 'connections')).toEqual(['connections db from export.yaml: created']);
    const { stdout } = await svc('import', pools);
    expect(stdout).toMatch(/pool +big +pools\.json +left +it exists; --overwrite changes it/);
  });

  it('says when there is nothing, or no such place, without showing what a broken file holds', async () => {
    const empty = mkdtempSync(join(directory, 'empty-'));
    expect(await svc('import', empty)).toMatchObject({ code: 4, stderr: expect.stringContaining('nothing to import') });
    expect(await svc('import', join(empty, 'gone'))).toMatchObject({ code: 2 });
    writeFileSync(join(empty, 'airflow_settings.yaml'), 'airflow:\n  connections: [hunter2: : :');
    const { code, stderr } = await svc('import', empty);
    expect(code).toBe(2);
    expect(stderr).not.toContain('hunter2');
  });
});
