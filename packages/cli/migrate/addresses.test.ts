/** Where `svc migrate` reads from: what an address may say, and what is wrong with one that cannot be read. */
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { createMysqlMetadata } from '@svc/testing/airflow/metadata-database.ts';
import { startMigrationTarget } from '@svc/testing/airflow/migration-target.ts';
import type { MigrationTarget } from '@svc/testing/airflow/migration-target.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';

let target: MigrationTarget;
beforeAll(async () => {
  target = await startMigrationTarget();
});
afterAll(() => target?.close());

test.each([
  [['--from', 'mssql://airflow:topsecret@db/airflow'], 1, 'metadata databases of mssql are not read'],
  [['--from', 'mysql://u:topsecret@127.0.0.1:1/airflow'], 1, 'mysql://127.0.0.1:1/airflow cannot be opened'],
  [['--from', 'mysql+pymysql://u:topsecret@db'], 1, 'is not a URL with its name'],
  [['--from', 'mysql://u:topsecret@db/airflow?ssl_mode=preferred'], 1, 'ssl_mode PREFERRED: choose from'],
  [['--from', 'mysql://u:topsecret@db/airflow?ssl_ca=/nowhere/ca.pem'], 1, 'certificate of the address cannot be'],
  [['--from', 'mysql://u:topsecret@db/airflow?init_command=x'], 1, 'has init_command, which is not understood'],
  [['--from', '/nowhere/airflow.db'], 1, '/nowhere/airflow.db is no file'],
  [['--from', 'postgresql://u:topsecret@127.0.0.1:1/airflow'], 1, 'postgresql://127.0.0.1:1/airflow cannot be opened'],
  [['--from', 'x.db', '--only', 'pools,xcoms'], 2, '--only xcoms: choose from pools'],
  [['--from', 'x.db', '--since', 'yesterday'], 2, '--since yesterday: give a date'],
  [['--from', 'x.db', '--fernet-key-file', '/nowhere/key'], 2, 'cannot be read from /nowhere/key'],
  [['--from', 'x.db', '--tenant', 'nobody'], 4, 'there is no tenant nobody'],
  [['--from', 'http://127.0.0.1:1'], 1, 'does not answer'],
  [[], 2, '--from'],
])('%j ends with %i: %s', async (argv, code, message) => {
  const outcome = await runSvc(['migrate', ...argv], { env: target.env });
  expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(message) as string });
  expect(outcome.stderr).not.toContain('topsecret');
});

it('keeps DAGs of MySQL apart whose ids differ in case alone', async () => {
  await target.addTenant('cases');
  const from = await target.mariadb.createDatabase();
  const fixture = await createMysqlMetadata(from, '3.2');
  const at = '2024-01-01 00:00:00.123456';
  for (const [index, id] of ['etl', 'ETL'].entries()) {
    const key = { dag_id: id, run_id: 'x' };
    await fixture.insert('dag_run', { id: index + 1, ...key, run_type: 'manual', state: 'success', run_after: at });
    await fixture.insert('task_instance', {
      ...key,
      id,
      task_id: 't',
      map_index: -1,
      pool: 'default_pool',
      pool_slots: 1,
      state: 'success',
    });
  }
  const outcome = await target.migrate(from, '--tenant', 'cases', '--dags', 'etl', '--only', 'history', '--apply');
  expect(outcome).toMatchObject({ counts: { history: { create: 1 } }, task_instances: 1 });
  const dates = await target.server.call('/api/v2/dags/~/dagRuns', { token: await target.tokenOf('cases') });
  expect(dates.json()).toMatchObject({ dag_runs: [{ dag_id: 'etl', run_after: '2024-01-01T00:00:00.123456Z' }] });
  await fixture.close();
});

it('reads MySQL by a socket, and over TLS when the address says so', async () => {
  await target.addTenant('line');
  const url = new URL(await target.mariadb.createDatabase());
  const fixture = await createMysqlMetadata(url.toString(), '3.2');
  await fixture.close();
  const some = ['--tenant', 'line', '--only', 'pools'];
  await target.migrate(
    `mysql:${url.pathname}?unix_socket=${target.mariadb.socket}`.replace(':/', '://root@localhost/'),
    ...some,
  );
  await target.migrate(`${url}?ssl_mode=VERIFY_IDENTITY&ssl_ca=${target.mariadb.caFile}`, ...some);
  await target.mariadb.ask(`set global require_secure_transport = on`);
  try {
    await target.migrate(`${url}?ssl_mode=REQUIRED`, ...some);
    const plain = await runSvc(['migrate', '--from', `${url}`], { env: target.env });
    expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining('Access denied') as string });
  } finally {
    await target.mariadb.ask(`set global require_secure_transport = off`);
  }
});

it('says that a database is not of an Airflow', async () => {
  const outcome = await runSvc(['migrate', '--from', target.server.config.database.url], { env: target.env });
  expect(outcome).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not the metadata database of an Airflow') as string,
  });
});
