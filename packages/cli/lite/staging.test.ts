/** Files that tasks of a run hand on, in a real lite: where they are, who may see them, and how long they stay. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENTUALLY, runEnds, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';

/** The second task fails the first time when it is asked to, and leaves a note of it among the files of its run. */
const DAG = `
import os
from pathlib import Path
from airflow.sdk import dag, task

@dag(schedule=None)
def hands_on():
    @task
    def writes():
        folder = Path(os.environ["SVC_STAGING_DIR"])
        found = sorted(path.name for path in folder.iterdir())
        (folder / "data").write_text("seven")
        return {"folder": str(folder), "found": found}

    @task
    def reads(said, dag_run=None):
        folder = Path(os.environ["SVC_STAGING_DIR"])
        if dag_run.conf.get("fails_once") and not (folder / "tried").exists():
            (folder / "tried").write_text("")
            raise ValueError("the first time")
        return {"folder": str(folder), "text": (folder / "data").read_text(), "mine": folder.stat().st_uid == os.getuid()}

    reads(writes())

hands_on()
`;

const PLAIN = `
import os
from airflow.sdk import dag, task

@dag(schedule=None)
def plain():
    @task
    def only():
        return "SVC_STAGING_DIR" in os.environ
    only()

plain()
`;

let lite: LiteInstance;
beforeAll(async () => {
  lite = await startLite({
    examples: [],
    dags: {
      'hands_on/svc.yaml': 'staging:\n  enabled: true\n',
      'hands_on/dag.py': DAG,
      'plain.py': PLAIN,
    },
  });
}, 400_000);
afterAll(() => lite?.stop());

type Said = { folder: string; found: string[]; text: string; mine: boolean };

const xcom = async <T = Said>(dagId: string, runId: string, task: string): Promise<T> => {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${task}`;
  return (await lite.api<{ value: T }>('GET', `${path}/xcomEntries/return_value?stringify=false`)).value;
};
const clear = (runId: string, onlyFailed: boolean) =>
  lite.api('POST', '/dags/hands_on/clearTaskInstances', {
    dag_run_id: runId,
    dry_run: false,
    only_failed: onlyFailed,
    reset_dag_runs: true,
  });

describe('files that a run stages', { timeout: 400_000 }, () => {
  it('are handed from task to task, kept when the run failed, and removed when it succeeded', async () => {
    await expect
      .poll(
        () =>
          lite.api('GET', '/dags/hands_on').then(
            () => true,
            () => false,
          ),
        EVENTUALLY,
      )
      .toBe(true);
    await lite.api('PATCH', '/dags/hands_on', { is_paused: false });
    const body = { conf: { fails_once: true } };
    const { dag_run_id: failing } = await lite.api<{ dag_run_id: string }>('POST', '/dags/hands_on/dagRuns', body);
    await runEnds(lite.api, 'hands_on', failing, 'failed');
    const kept = (await xcom('hands_on', failing, 'writes')).folder;
    expect(dirname(kept)).toBe(join(lite.data, 'staging'));
    expect(statSync(kept).mode & 0o777).toBe(0o700);

    const passing = await runToEnd(lite.api, 'hands_on');
    const { folder, found } = await xcom('hands_on', passing, 'writes');
    expect([folder === kept, found]).toEqual([false, []]);
    expect(await xcom('hands_on', passing, 'reads')).toEqual({ folder, text: 'seven', mine: true });
    await expect.poll(() => existsSync(folder), EVENTUALLY).toBe(false);

    // The same look left those of the failed run alone: it goes on with them.
    expect(readdirSync(kept).sort()).toEqual(['data', 'tried']);
    await clear(failing, true);
    await runEnds(lite.api, 'hands_on', failing);
    await expect.poll(() => existsSync(kept), EVENTUALLY).toBe(false);

    await clear(passing, false);
    await runEnds(lite.api, 'hands_on', passing);
    expect(await xcom('hands_on', passing, 'writes')).toEqual({ folder, found: [] });
  });

  it('are none where the DAG does not ask for it', async () => {
    const runId = await runToEnd(lite.api, 'plain');
    expect(await xcom('plain', runId, 'only')).toBe(false);
  });
});
