import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { createRunTraces } from './run-traces.ts';
import type { RunTraces } from './run-traces.ts';
import type { FinishedSpan } from './run-spans.ts';
import { parseTraceparent, spanOfRun, traceOfRun, traceparentOf } from './trace-ids.ts';

let engine: ScriptedScheduler;
let traces: RunTraces | undefined;
let isActive = true;
const spans: FinishedSpan[] = [];

beforeAll(async () => {
  const tracing = { isActive: () => isActive, record: (more: readonly FinishedSpan[]) => void spans.push(...more) };
  engine = await startScriptedScheduler({ traces: (db) => (traces = createRunTraces({ db, tracing })) });
});
afterAll(() => engine?.close());
beforeEach(() => {
  spans.length = 0;
  isActive = true;
  engine.setScript(() => ({ state: 'success' }));
});

const named = (name: string): FinishedSpan[] => spans.filter((span) => span.name === name);
const rowOf = (run: number) =>
  engine.scope.selectFrom('dag_runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();
async function spansOf(dagId: string, trigger: () => Promise<number>): Promise<number> {
  const run = await trigger();
  await engine.ended(run);
  await eventually(() => expect(named(`run ${dagId}`)).toHaveLength(1));
  return run;
}

describe('the trace of a run', () => {
  it('leads from the run over the try and the attempt to the body, whose id the task process knows', async () => {
    const tasks = graphOf({ first: [], second: ['first'] });
    await engine.register(makeSpec({ dagId: 'traced', tasks }));
    const run = await spansOf('traced', () => engine.trigger('traced'));
    const [root] = named('run traced');
    expect(root?.parent).toBeUndefined();
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const second = named('task second')[0];
    expect(second?.parent?.spanId).toBe(root?.spanId);
    const attempt = named('attempt').find(({ parent }) => parent?.spanId === second?.spanId);
    const body = named('body').find(({ parent }) => parent?.spanId === attempt?.spanId);
    const attemptId = String(attempt?.attributes['svc.attempt_id']);
    expect(parseTraceparent(traceparentOf(await rowOf(run), attemptId))).toEqual({
      traceId: body?.traceId,
      spanId: body?.spanId,
    });
    for (const span of spans) expect(span.start <= span.end, span.name).toBe(true);
  });

  it('has a span for each try, and the failed ones say why', async () => {
    let tries = 0;
    engine.setScript(() => {
      tries += 1;
      if (tries > 1) return { state: 'success' };
      return { state: 'failed', failure: { cause: 'exception', text: 'ValueError: no' } };
    });
    const tasks = graphOf({ a: [] }, () => ({ policy: { retries: 1, retry_delay: 0 } }));
    await engine.register(makeSpec({ dagId: 'retried', tasks }));
    await spansOf('retried', () => engine.trigger('retried'));
    const found = named('task a');
    expect(new Set(found.map(({ spanId }) => spanId)).size).toBe(2);
    expect(found[0]?.failure).toContain('exception');
    expect(found[1]?.failure).toBeUndefined();
    expect(named('run retried')[0]?.failure).toBeUndefined();
  });

  it('continues the trace that conf names, but not a malformed one', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await engine.register(makeSpec({ dagId: 'continued', tasks: graphOf({ a: [] }) }));
    const triggered = async (conf: Record<string, unknown>): Promise<number> => {
      const input = { dagId: 'continued', runType: 'manual' as const, triggeredBy: 'test', conf };
      const result = await engine.scheduler.trigger(engine.tenant.id, input);
      if (result.kind !== 'created') throw new Error(result.kind);
      return result.run.id;
    };
    await spansOf('continued', () => triggered({ traceparent }));
    expect(named('run continued')[0]).toMatchObject({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parent: { spanId: 'b7ad6b7169203331' },
    });
    spans.length = 0;
    await spansOf('continued', () => triggered({ traceparent: '00-zz-1-01' }));
    expect(named('run continued')[0]?.parent).toBeUndefined();
  });

  it('has a link to each run whose asset events created it', async () => {
    const [source, run] = [await engine.run(graphOf({ a: [] })), await engine.run(graphOf({ a: [] }))];
    for (const one of [source, run]) await engine.ended(one);
    await engine.scheduler.idle();
    const { scope, tenant } = engine;
    const { id: assetId } = await scope
      .insertInto('assets')
      .values({ name: 'a', uri: 'a', group_name: 'asset' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { dag_id: dagId, run_id: runId } = await rowOf(source);
    const { id: eventId } = await scope
      .insertInto('asset_events')
      .values({
        asset_id: assetId,
        source_dag_id: dagId,
        source_task_id: 'a',
        source_run_id: runId,
        partition_key: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await scope.insertInto('dag_run_asset_events').values({ run, event_id: eventId }).execute();
    await scope.updateTable('dag_runs').set({ run_type: 'asset_triggered' }).where('id', '=', run).execute();
    spans.length = 0;
    traces?.runsEnded([{ tenantId: tenant.id, run }]);
    await eventually(() => expect(spans).toHaveLength(1));
    expect(spans[0]?.links).toEqual([
      { traceId: traceOfRun(await rowOf(source)), spanId: spanOfRun(await rowOf(source)) },
    ]);
  });

  it('is not made and not given to tasks while no collector receives spans', async () => {
    isActive = false;
    const run = await engine.run(graphOf({ a: [] }));
    await engine.ended(run);
    await engine.scheduler.idle();
    expect(spans).toEqual([]);
    expect(traces?.traceparent(await rowOf(run), 'attempt')).toBeUndefined();
  });
});
