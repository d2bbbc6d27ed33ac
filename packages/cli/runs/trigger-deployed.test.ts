/** `svc deploy --trigger` with runs that really run. */
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLiveServer } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';

const bashDag = (dagId: string, command: string): string => `
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("${dagId}", schedule=None):
    BashOperator(task_id="only", bash_command="${command}")
`;

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
});
afterAll(() => live.close());

const runsOf = (dagId: string) => live.jsonOf<{ state: string }[]>('runs', 'list', dagId);

describe('svc deploy --trigger', () => {
  it('starts nothing unless asked, and refuses words that mean nothing without it', async () => {
    const root = workspaceOf({ 'quiet.py': bashDag('quiet', 'true') });
    expect((await live.svc('deploy', root)).code).toBe(0);
    expect(await runsOf('quiet')).toEqual([]);
    expect((await live.svc('deploy', root, '--wait')).code).toBe(2);
    expect((await live.svc('deploy', root, '--unpause')).code).toBe(2);
  });

  it('does not wait for the run of a DAG that is new and so paused', async () => {
    const root = workspaceOf({ 'brand_new.py': bashDag('brand_new', 'true') });
    const waited = await live.svc('deploy', root, '--trigger', '--wait');
    expect(waited).toMatchObject({ code: 2, stderr: expect.stringContaining('--unpause') });
    expect(waited.stdout).toMatch(/brand_new +created +v1/);
    const queued = await live.svc('deploy', root, '--trigger');
    expect(queued).toMatchObject({ code: 0, stderr: expect.stringContaining('svc dags unpause brand_new') });
    expect(await runsOf('brand_new')).toMatchObject([{ state: 'queued' }]);
  });

  it('with --wait ends as the run does', async () => {
    const good = workspaceOf({ 'good.py': bashDag('good', 'true') });
    const done = await live.svc('deploy', good, '--trigger', '--unpause', '--wait');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toMatch(
      /good +created +v1\nTriggered manual__\S+ of DAG good\.\n[\s\S]*run manual__\S+ of DAG good succeeded/,
    );
    const bad = workspaceOf({ 'bad.py': bashDag('bad', 'exit 3') });
    const failed = await live.svc('deploy', bad, '--trigger', '--unpause', '--wait');
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/of DAG bad failed[\s\S]*svc runs logs bad /),
    });
  });

  it('of several triggers what was deployed, waits for all, and prints one document', async () => {
    const root = workspaceOf({
      'one.py': bashDag('one', 'true'),
      'two.py': bashDag('two', 'exit 3'),
      'broken.py': 'from airflow import (  # dag',
    });
    const { code, stdout } = await live.svc('deploy', '--all', root, '--trigger', '--unpause', '--wait', '--json');
    expect(code).toBe(1);
    const { runs } = JSON.parse(stdout) as { runs: { dag_id: string; state: string }[] };
    expect(runs.map((run) => [run.dag_id, run.state]).toSorted()).toEqual([
      ['one', 'success'],
      ['two', 'failed'],
    ]);
    const told = await live.svc('deploy', '--all', root, '--trigger', '--wait');
    expect(told.stdout).toMatch(/of DAG one succeeded/);
    expect(told.stdout).toMatch(/of DAG two failed/);
  });
});
