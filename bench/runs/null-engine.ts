/** A scheduler on a real Postgres whose executor ends every attempt at once, so that only the engine is measured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import { migrate } from '@svc/server/db/migrate.ts';
import { createNullExecutor } from '@svc/server/executors/null.ts';
import type { Attempts } from '@svc/server/engine/shared/attempts.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { createScheduler } from '@svc/server/engine/scheduler.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';

export type NullEngine = Awaited<ReturnType<typeof startNullEngine>>;

const IN_FLIGHT = 400;
/** The default of scheduler.loop_interval_ms. Among other work, ticks update statistics of growing tables. */
const TICK_MS = 1_000;

export async function startNullEngine(
  url: string,
  { inFlight = IN_FLIGHT, bodyMs = 0 }: { inFlight?: number; bodyMs?: number } = {},
) {
  await migrate(url);
  const db = openDatabase({
    url,
    maxOpenConns: 25,
    maxIdleConns: 5,
    statementTimeoutMs: 120_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const tenant = await ensureTenant(db.shared, 'default');
  await db.tenant(tenant.id).updateTable('pools').set({ slots: -1 }).execute();
  let finished = 0;

  const attempts: Pick<Attempts, 'start' | 'finishAndTakeNext'> = {
    start: (...args) => scheduler.attempts.start(...args),
    async finishAndTakeNext(...args) {
      if (bodyMs > 0) await sleep(bodyMs);
      const answer = await scheduler.attempts.finishAndTakeNext(...args);
      finished += 1;
      return answer;
    },
  };
  const log = {
    debug: () => {},
    info: () => {},
    warn: (details: object, message: string) => console.error(message, details),
    error: (details: object, message: string) => console.error(message, details),
  };
  const scheduler = createScheduler({
    db,
    graphs: createDagGraphs(),
    executor: createNullExecutor({ attempts, parallelism: inFlight, log }),
    dispatch: { bufferSize: 0, workers: 0 },
    recordAssetEvents: async () => ({ effects: [] }),
    dueSources: [],
    notifyOthers: () => {},
    log,
  });
  const scope = db.tenant(tenant.id);
  // A tick may be in progress at the close.
  const ticks = setInterval(() => void scheduler.tick().catch(() => {}), TICK_MS);

  return {
    db,
    scope,
    scheduler,
    tenantId: tenant.id,
    finished: () => finished,
    async register(dagId: string, tasks: readonly TaskSpec[], maxActive = 100_000): Promise<void> {
      const spec = makeSpec({ dagId, tasks, dag: { max_active_tasks: maxActive, max_active_runs: 100_000 } });
      const actor = { name: 'bench', clientIp: '127.0.0.1', requestId: 'bench' };
      const registration = await registerVersion(scope, { dagId, artifact: { spec }, actor });
      if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
      await scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
    },
    async trigger(dagId: string): Promise<number> {
      const result = await scheduler.trigger(tenant.id, { dagId, runType: 'manual', triggeredBy: 'bench' });
      if (result.kind !== 'created') throw new Error(`not created: ${JSON.stringify(result)}`);
      return result.run.id;
    },
    /** Waits until no run of the DAG is live. */
    async idle(dagId: string): Promise<void> {
      for (;;) {
        const live = await scope
          .selectFrom('dag_runs')
          .select('id')
          .where('dag_id', '=', dagId)
          .where('state', 'in', ['queued', 'running'])
          .limit(1)
          .executeTakeFirst();
        if (!live) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async close(): Promise<void> {
      clearInterval(ticks);
      await scheduler.stop();
      await db.close();
    },
  };
}

export const independent = (count: number): TaskSpec[] =>
  Array.from({ length: count }, (_, index) => makeTask(`t${String(index).padStart(5, '0')}`));

const nameOf = (index: number): string => `t${String(index).padStart(5, '0')}`;

export const chainOf = (count: number): TaskSpec[] => {
  return Array.from({ length: count }, (_, index) =>
    makeTask(nameOf(index), {
      upstream: index > 0 ? [nameOf(index - 1)] : [],
      downstream: index < count - 1 ? [nameOf(index + 1)] : [],
    }),
  );
};

export const mapped = (count: number): TaskSpec[] => [
  makeTask('each', {
    rest: {
      mapping: {
        kind: 'expand',
        target: 'operator',
        arguments: [{ name: 'x', value: Array.from({ length: count }, (_, index) => index), length: count }],
        depends_on: [],
      },
    },
  }),
];
