import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { core } from '@svc/testing/kubernetes/cluster.ts';
import { startClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import type { ClusterControlPlane } from '@svc/testing/kubernetes/control-plane.ts';
import { createTestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import type { TestNamespace } from '@svc/testing/kubernetes/namespace.ts';
import { eventually } from '@svc/testing/eventually.ts';

const PATIENT = { withinMs: 240_000, everyMs: 300 };

/** The second task fails the first time, and leaves a note of it where only the files of its run are. */
const passes = (name: string): string => `
import os
from pathlib import Path
from airflow.sdk import dag, task

@dag(schedule=None)
def ${name}():
    @task
    def writes():
        folder = Path(os.environ["SVC_STAGING_DIR"])
        print("found", sorted(path.name for path in folder.iterdir() if path.name != "lost+found"))
        (folder / "data").write_text("seven")

    @task
    def reads():
        folder = Path(os.environ["SVC_STAGING_DIR"])
        print("read", (folder / "data").read_text(), "from", folder, "as", os.getuid())
        if "${name}" == "fails_once" and not (folder / "tried").exists():
            (folder / "tried").write_text("")
            raise ValueError("the first time")

    writes() >> reads()

${name}()
`;

const PLAIN = `
import os
from airflow.sdk import dag, task

@dag(schedule=None)
def plain():
    @task
    def only():
        print("variable:", "SVC_STAGING_DIR" in os.environ, "folder:", os.path.exists("/staging"))
    only()

plain()
`;

const staging = (more: object = {}) => ({ staging: { enabled: true, size: '1Mi', storage_class: null, ...more } });

let namespace: TestNamespace;
let server: ClusterControlPlane;
beforeAll(async () => {
  namespace = await createTestNamespace('staging');
  server = await startClusterControlPlane(namespace.name, { 'executor.defaults.staging.size': '2Mi' });
  await server.addDag('passes', passes('passes'), staging({ size: null }));
  await server.addDag('fails_once', passes('fails_once'), staging());
  await server.addDag('no_class', passes('no_class'), staging({ storage_class: 'of-another-cluster' }));
  await server.addDag('plain', PLAIN);
});
afterAll(async () => {
  await server?.close();
  await namespace?.[Symbol.asyncDispose]();
});

const claims = async () => (await core.listNamespacedPersistentVolumeClaim({ namespace: namespace.name })).items;
const claimOf = async (dagId: string) =>
  (await claims()).find(({ metadata }) => metadata?.labels?.['svc.dev/dag'] === dagId);
const clear = (dagId: string, runId: string, onlyFailed: boolean) =>
  server.api('POST', `/dags/${dagId}/clearTaskInstances`, {
    dag_run_id: runId,
    dry_run: false,
    only_failed: onlyFailed,
    reset_dag_runs: true,
  });
const endsIn = async (dagId: string, runId: string): Promise<string> => (await server.ended(dagId, runId, 200)).state;

describe('files that a run stages', () => {
  it('pass from task to task, are kept when the run failed, and removed when it succeeded', async () => {
    const failing = await server.trigger('fails_once');
    expect(await endsIn('fails_once', failing)).toBe('failed');
    expect((await claimOf('fails_once'))?.spec?.resources?.requests).toEqual({ storage: '1Mi' });

    const passing = await server.trigger('passes');
    await eventually(async () => expect(await claimOf('passes')).toBeDefined(), PATIENT);
    const { metadata, spec } = (await claimOf('passes')) ?? {};
    expect(metadata?.name).toMatch(/^svc-staging-[0-9a-f]{8}-\d+$/);
    expect(spec).toMatchObject({ accessModes: ['ReadWriteMany'], resources: { requests: { storage: '2Mi' } } });
    expect(await endsIn('passes', passing)).toBe('success');
    expect(await server.log('passes', passing, 'writes')).toContain('found []');
    expect(await server.log('passes', passing, 'reads')).toContain('read seven from /staging as 10001');
    await eventually(async () => expect(await claimOf('passes')).toBeUndefined(), PATIENT);

    // The same look left that of the failed run alone: it goes on with its files.
    expect((await claimOf('fails_once'))?.metadata?.deletionTimestamp).toBeUndefined();
    await clear('fails_once', failing, true);
    expect(await endsIn('fails_once', failing)).toBe('success');
    await eventually(async () => expect(await claimOf('fails_once')).toBeUndefined(), PATIENT);

    await clear('passes', passing, false);
    expect(await endsIn('passes', passing)).toBe('success');
    expect(await server.log('passes', passing, 'writes', 2)).toContain('found []');
  });

  it('are none where the DAG does not ask for it', async () => {
    const runId = await server.trigger('plain');
    await server.ended('plain', runId, 200);
    expect(await server.log('plain', runId, 'only')).toContain('variable: False folder: False');
  });

  it('are waited for, in words, while the cluster has no volume for them', async () => {
    const runId = await server.trigger('no_class');
    const path = `/dags/no_class/dagRuns/${encodeURIComponent(runId)}/taskInstances/writes/dependencies`;
    await eventually(async () => {
      const { dependencies } = await server.api<{ dependencies: { reason: string }[] }>('GET', path);
      expect(dependencies.map(({ reason }) => reason).join()).toMatch(/staging volume.*PersistentVolumeClaim/);
    }, PATIENT);
    await server.api('PATCH', `/dags/no_class/dagRuns/${encodeURIComponent(runId)}`, { state: 'failed' });
  });
});
