import { afterAll, beforeAll, expect, it } from 'vitest';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { mapping } from '@svc/testing/plan/random-dag.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { RunWork } from './run-work.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

it('lists each instance once however many loads it takes, since an end counts for every listed instance', async () => {
  const tasks = ['a', 'b'].map((id) => makeTask(id, { rest: { mapping: mapping(2) } }));
  await engine.register(makeSpec({ dagId: 'loads', tasks }));
  const id = await engine.trigger('loads');
  await engine.ended(id);
  const run = await engine.scope.selectFrom('dag_runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const rows = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', id).execute();
  const ref = { tenantId: run.tenant_id, dagId: run.dag_id, versionNumber: run.version_number };
  const graph = await engine.db.shared.transaction().execute((trx) => engine.scheduler.graphs.get(trx, ref));
  const work = new RunWork({ run, graph, now: run.start_date ?? '' });
  for (const taskId of ['a', 'b']) {
    for (const row of rows.filter((one) => one.task_id === taskId)) work.addRow(row);
    work.markLoaded([{ taskId }]);
  }
  const listed = ['a', 'b'].map((taskId) =>
    work
      .instances(taskId)
      ?.map(({ mapIndex }) => mapIndex)
      .toSorted(),
  );
  expect(listed).toEqual([
    [0, 1],
    [0, 1],
  ]);
});
