/** `svc replay` of the twenty DAGs that are broken in twenty ways, for a user that may not read secrets. */
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { sourceOf } from '@svc/testing/mcp/broken-dags.ts';
import { replayBrokenDags } from '@svc/testing/mcp/replay-broken-dags.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { expect, it } from 'vitest';

// Three of the twenty have no try: a file that does not load, a schedule without a date, and a task that waits for a
// slot. One has nothing that failed: the replay of its branch succeeds, as the try did.
const WITH_A_TRY = 17;

it('each broken DAG raises the same exception at the same line by svc replay, and is planned again to the same end', async () => {
  const replayed = await replayBrokenDags();
  expect(replayed.map(({ name, here }) => ({ name, ...here }))).toEqual(
    replayed.map(({ name, there }) => ({ name, ...there })),
  );
  expect(replayed.filter(({ there }) => there.error === null).map(({ name }) => name)).toEqual(['skipped_by_branch']);
  expect(replayed.filter(({ differences }) => differences.length > 0)).toEqual([]);
  expect(replayed).toHaveLength(WITH_A_TRY);
  console.info(replayed.map(({ name, ms }) => `${name} ${Math.round(ms)} ms`).join('\n'));
}, 600_000);

it('a DAG file that does not load has no try, and svc test names its exception and line', async () => {
  const folder = workspaceOf({ 'import_error.py': sourceOf('import_error') });
  const env = { SVC_PYTHON: await pythonEnvironment(), PATH: process.env['PATH'] ?? '' };
  const { code, stderr } = await runSvc(['test', 'import_error', '--path', folder], { env });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/import_error\.py:7.*NameError: name 'DEFAULT_RETRIES' is not defined/);
}, 120_000);
