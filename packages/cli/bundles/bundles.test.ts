/** `svc bundles`, `svc deployments` and `svc rollback` against a real control plane and a real repository. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startBundleServer } from '@svc/testing/server/bundle-server.ts';
import type { BundleServer } from '@svc/testing/server/bundle-server.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DagPlan } from '../plan/plan-command.ts';

let server: BundleServer;
let repository: GitRepository;

beforeAll(async () => {
  repository = createGitRepository();
  server = await startBundleServer();
});
afterAll(async () => {
  await server?.close();
  repository?.[Symbol.dispose]();
});

const planned = async (bundle: string, root: string, ...more: string[]) =>
  runSvc(['plan', root, '--bundle', bundle, ...more], {
    env: { SVC_SERVER_URL: server.url, SVC_TOKEN: server.token, SVC_PYTHON: await pythonEnvironment() },
  });
type Planned = { dags: DagPlan[]; unchanged: number };
const plan = async (bundle: string, root: string): Promise<Planned> =>
  JSON.parse((await planned(bundle, root, '--json')).stdout) as Planned;

const svc = (...argv: string[]) => runSvc(argv, { env: { SVC_SERVER_URL: server.url, SVC_TOKEN: server.token } });

it('a person adds a repository, follows a refused push, mends it and undoes it, by commands alone', async () => {
  const first = repository.push({ 'team/dags/a.py': dagText('cli_a') }, 'Add a');
  const added = await svc('bundles', 'add', 'etl', repository.url, '--folder', 'team/', '--poll', '0', '--follow');
  expect(added.code).toBe(0);
  expect(added.stdout).toBe(`etl: deployment 1: ${first.slice(0, 12)}, 1 DAG changed\n`);
  expect((await svc('bundles', 'list')).stdout).toMatch(
    new RegExp(`BUNDLE +SOURCE +DEPLOYMENT +COMMIT[^]*etl +\\S+dags\\.git +1 +${first.slice(0, 12)}`),
  );

  repository.push({ 'team/dags/b.py': `${dagText('cli_b')}\nraise ValueError("not today")\n` });
  const refused = await svc('bundles', 'sync', 'etl', '--follow');
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/dags\/b\.py:7: .*not today[^]*is not deployed/) as string,
  });
  const shown = await svc('bundles', 'show', 'etl');
  expect(shown.stdout).toMatch(/Commit +[0-9a-f]{40}[^]*Message +Add a[^]*Broken in [0-9a-f]{12}:\n {2}dags\/b\.py:7:/);

  repository.push({ 'team/dags/b.py': dagText('cli_b') }, 'Mend b');
  expect((await svc('bundles', 'sync', 'etl', '--follow')).code).toBe(0);
  expect((await svc('deployments', 'diff', 'etl', '1')).stdout).toMatch(/cli_b +added +- +v1/);
  const undone = await svc('rollback', 'etl');
  expect(undone.stdout).toContain(`etl is back to deployment 1 (${first.slice(0, 12)}), 1 DAG changed`);
  expect((await svc('deployments', 'list', 'etl')).stdout).toMatch(
    /3 \(current\)[^]*back to deployment 1[^]*2 [^]*Mend b[^]*1 [^]*Add a/,
  );
  expect((await svc('deployments', 'show', 'etl')).stdout).toMatch(/Repeats +deployment 1[^]*cli_b +removed +v1 +-/);
  const wrong = await svc('rollback', 'etl', '--to', 'yesterday');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('no number of a deployment') as string });
});

it('a person undoes the change of one DAG, and removes the bundle', async () => {
  repository.push({ 'team/dags/a.py': dagText('cli_a', ['worse']) }, 'Change a');
  await svc('bundles', 'sync', 'etl', '--follow');
  const undoneDag = await svc('rollback', 'cli_a');
  expect(undoneDag.stdout).toBe(
    'cli_a is back to the content of version 1. This is version 3 and deployment 5 of etl.\n',
  );
  expect(await svc('rollback', 'nothing')).toMatchObject({ code: 4 });

  expect((await svc('bundles', 'remove', 'etl')).code).toBe(0);
  expect(await svc('bundles', 'show', 'etl')).toMatchObject({ code: 4 });
  expect(await server.api('GET', '/dags/cli_a')).toMatchObject({ is_stale: true });
});

it('a plan names what a checkout would change, and changes nothing', async () => {
  const before = { 'b.py': dagText('plan_b'), 'a.py': dagText('plan_a') };
  const root = workspaceOf(before);
  await server.addBundle('plans', root);
  expect(await plan('plans', root)).toMatchObject({ dags: [], unchanged: 2 });
  rmSync(join(root, 'b.py'));
  const scheduled = dagText('plan_a', ['extract', 'report']).replace('schedule=None', 'schedule="0 6 * * *"');
  writeFiles(root, { 'a.py': scheduled, 'c.py': dagText('plan_c') });
  const found = await plan('plans', root);
  expect(found).toMatchObject({
    dags: [
      {
        dag_id: 'plan_a',
        change: 'changed',
        difference: {
          reasons: expect.arrayContaining(['schedule']) as string[],
          tasks: [
            { task_id: 'extract', change: 'changed', reasons: ['dependencies'] },
            { task_id: 'report', change: 'added' },
            { task_id: 'load', change: 'removed' },
          ],
        },
        running_runs: 0,
      },
      { dag_id: 'plan_c', change: 'added' },
      { dag_id: 'plan_b', change: 'removed' },
    ],
    unchanged: 0,
  });
  expect(found.dags[0]?.next_dates?.after).toHaveLength(10);
  const shown = await planned('plans', root);
  expect(shown.stdout).toMatch(/~ DAG plan_a[^]*\+ report[^]*1 DAG added, 1 changed, 1 removed, 0 unchanged/);
  expect(await server.dags()).toMatchObject({ plan_a: 1, plan_b: 1 });
});

it('a source that cannot be read is a failure with the words of git, and changes nothing', async () => {
  const failed = await svc('bundles', 'add', 'nothing', `${repository.url.slice(0, -4)}-gone.git`, '--follow');
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/git ls-remote failed.*does not/) as string });
  const unknown = await svc('bundles', 'add', 'other', repository.url, '--ref', 'no-such-branch', '--follow');
  expect(unknown.stderr).toContain('has no branch and no tag "no-such-branch"');
});
