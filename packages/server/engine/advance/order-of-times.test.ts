import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

/** Its times in the order they must have; `before` is called while its task runs. */
async function timesOfRun(input: {
  endedAt?: string;
  before?: (run: number) => Promise<unknown>;
}): Promise<string[][]> {
  const dagId = `dag_${crypto.randomUUID().slice(0, 8)}`;
  let end = (): void => undefined;
  const isOver = new Promise<void>((resolve) => (end = resolve));
  engine.setScript(async () => {
    await isOver;
    return { state: 'success', ...(input.endedAt !== undefined && { endedAt: input.endedAt }) };
  });
  await engine.register(makeSpec({ dagId, tasks: [makeTask('a')] }));
  const run = await engine.trigger(dagId);
  await expect.poll(async () => (await engine.states(run))['a']).toBe('running');
  await input.before?.(run);
  end();
  expect(await engine.ended(run)).toBe('success');
  const runs = await engine.scope.selectFrom('dag_runs').selectAll().where('id', '=', run).execute();
  const instances = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
  return [
    ...runs.map((row) => [row.queued_at, row.start_date, row.end_date]),
    ...instances.map((row) => [row.scheduled_at, row.queued_at, row.start_date, row.end_date]),
  ].map((times) => times.map(String));
}

function expectOrder(times: readonly string[][]): void {
  expect(times).toHaveLength(2);
  for (const row of times) {
    for (const time of row) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(row).toEqual(row.toSorted());
  }
}

describe('the times of a run and of its tasks are in order', () => {
  it('when all clocks agree', async () => {
    expectOrder(await timesOfRun({}));
  });

  it.each(['2001-01-01T00:00:00Z', '2199-01-01T00:00:00Z', '2001-01-01T00:00:00.123456+05:30'])(
    'when the clock of the agent is wrong: %s',
    async (endedAt) => {
      expectOrder(await timesOfRun({ endedAt }));
    },
  );

  it('when the clock was set back by an hour while they ran', async () => {
    const later = sql<string>`clock_timestamp() + interval '1 hour'`;
    const before = async (run: number): Promise<void> => {
      await engine.scope
        .updateTable('dag_runs')
        .set({ queued_at: later, start_date: later })
        .where('id', '=', run)
        .execute();
      await engine.scope
        .updateTable('task_instances')
        .set({ scheduled_at: sql<string>`null`, queued_at: sql<string>`'2001-01-01T00:00:00Z'`, start_date: later })
        .where('run', '=', run)
        .execute();
    };
    const times = await timesOfRun({ before });
    expectOrder(times.map((row) => row.filter((time) => time !== 'null')));
  });
});
