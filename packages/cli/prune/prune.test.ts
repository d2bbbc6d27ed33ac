import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { findInstallation, recordLogsMarked } from '@svc/server/db/processes/installation.ts';
import { releasePruneLease, takePruneLease } from '@svc/server/db/prune/prune-lease.ts';
import { countRemovedLogs } from '@svc/server/db/prune/removed-logs.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { markDirectory } from '@svc/server/logs/shared-directory.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-prune-'));
const logsDir = join(directory, 'logs');
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenantId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxOpenConns: 2, maxIdleConns: 1, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 }); // prettier-ignore
  tenantId = (await ensureTenant(db.shared, 'default')).id;
  await insertDag(db.tenant(tenantId), { dagId: 'dag' });
  await addRun('newest', 1);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const addRun = (runId: string, days: number): Promise<number> =>
  insertRun(db.tenant(tenantId), {
    dagId: 'dag',
    runId,
    state: 'success',
    run_after: daysAgo(days),
    end_date: daysAgo(days),
    instances: [{ task_id: 'task', state: 'success' }],
  });
async function addLog(runId: string): Promise<string> {
  const logs = createDiskLogStore({ dir: logsDir });
  await logs.append(
    { tenantId, dagId: 'dag', runId, taskId: 'task', mapIndex: -1, tryNumber: 1 },
    0,
    Buffer.from('x\n'),
  );
  await logs.close();
  return join(logsDir, tenantId, 'dag', runId);
}
const svc = (...args: string[]) =>
  runSvc(['db', 'prune', ...args], { env: { SVC_DATABASE_URL: database.url, SVC_LOGS_DIR: logsDir } });

describe('svc db prune', () => {
  it('shows what would go and changes nothing; with --apply it goes, and the audit log says who did it', async () => {
    await addRun('old', 200);
    const ahead = await svc('--older-than', '90d');
    expect(ahead).toMatchObject({ code: 0, stderr: '' });
    expect(ahead.stdout).toMatch(/default +runs +1\n/);
    expect(ahead.stdout).toMatch(/default +task instances +1\n/);
    expect(ahead.stdout).toContain('Nothing was changed: --apply does it.');

    const json = JSON.parse((await svc('--older-than', '90d', '--json')).stdout) as object;
    expect(json).toMatchObject({
      applied: false,
      finished: true,
      tenants: [{ tenant: 'default', would_go: { runs: 1 } }],
    });
    expect(await db.shared.selectFrom('dag_runs').select('id').execute()).toHaveLength(2);

    const done = JSON.parse((await svc('--older-than', '90d', '--apply', '--fast', '--json')).stdout) as object;
    expect(done).toMatchObject({
      applied: true,
      finished: true,
      tenants: [{ removed: { runs: 1, task_instances: 1 }, busy: 0 }],
    });
    expect(await db.shared.selectFrom('dag_runs').select('run_id').execute()).toEqual([{ run_id: 'newest' }]);
    const entries = await db.shared
      .selectFrom('audit_log')
      .select(['actor', 'detail'])
      .where('event', '=', 'prune_database')
      .execute();
    expect(entries).toEqual([
      { actor: expect.stringMatching(/^host:/), detail: expect.objectContaining({ runs: 1, taskInstances: 1 }) },
    ]);
    expect((await svc('--older-than', '90d')).stdout).toContain('Nothing to remove');
  });

  it('leaves logs that are elsewhere to a scheduler, and removes those that are here', async () => {
    await addRun('elsewhere', 200);
    const away = await svc('--older-than', '90d', '--apply');
    expect(away.stderr).toContain('has no logs of this installation: a scheduler removes those of the runs');
    expect(await countRemovedLogs(db.shared)).toBeGreaterThan(0);

    await markDirectory(logsDir, (await findInstallation(db)).id);
    await recordLogsMarked(db);
    await addRun('here', 200);
    const folder = await addLog('here');
    expect(existsSync(folder)).toBe(true);
    expect(await svc('--older-than', '90d', '--apply')).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(folder)).toBe(false);
    expect(await countRemovedLogs(db.shared)).toBe(0);
  });

  it('says who is at it when somebody else is', async () => {
    const by = '00000000-0000-4000-8000-000000000001';
    await takePruneLease(db.shared, { by, holder: 'a scheduler on elsewhere' });
    const refused = await svc('--older-than', '90d', '--apply');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('old runs are being removed right now, by a scheduler on elsewhere');
    expect((await svc('--older-than', '90d')).code).toBe(0); // looking takes no turn
    await releasePruneLease(db.shared, by, { isFinished: false });
  });

  it.each([
    [['--older-than', 'soon'], 'give a duration such as 90d'],
    [['--older-than', '5m'], 'at least 1h'],
    [['--older-than', '90d', '--audit-older-than', '30d'], 'must not be shorter than --older-than'],
    [[], "required option '--older-than <duration>' not specified"],
  ])('refuses %j', async (args, message) => {
    const refused = await svc(...args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
  });
});
