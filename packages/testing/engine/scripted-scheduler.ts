/**
 * A real scheduler on a real database, with an executor that plays the workers: each attempt is started and ends as the
 * script says. What is tested this way is the engine, not the processes around it.
 */
import { eventually } from '../eventually.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { makeSpec, makeTask } from '../spec/make-spec.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import type { Attempt, AttemptOutcome, StartedAhead } from '@svc/server/engine/shared/attempts.ts';
import type { Executor, TriggererJob } from '@svc/server/engine/executor.ts';
import { clearRuns } from '@svc/server/engine/edit/clear-many.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { createScheduler } from '@svc/server/engine/scheduler.ts';
import type { SchedulerOptions } from '@svc/server/engine/scheduler.ts';
import { createTestDatabase } from '../postgres/test-database.ts';

/** How an attempt ends; `hang` never does, until the test ends it. */
export type Script = (attempt: Attempt) => AttemptOutcome | 'hang' | Promise<AttemptOutcome>;

export type ScriptedScheduler = Awaited<ReturnType<typeof startScriptedScheduler>>;

/** Tasks by id with the ids they come after: `{ a: [], b: ['a'] }`. */
export function graphOf(
  upstream: Record<string, readonly string[]>,
  rest: (taskId: string) => Parameters<typeof makeTask>[1] = () => ({}),
): TaskSpec[] {
  const ids = Object.keys(upstream);
  return ids.map((id) =>
    makeTask(id, {
      upstream: upstream[id] ?? [],
      downstream: ids.filter((other) => upstream[other]?.includes(id)),
      ...rest(id),
    }),
  );
}

export async function startScriptedScheduler(
  input: {
    script?: Script;
    capacity?: number;
    url?: string;
    leaseMs?: number;
    maxInfrastructureRetries?: number;
    hitlState?: SchedulerOptions['hitlState'];
    goesOn?: boolean;
    explainSilence?: Executor['explainSilence'];
    traces?: (db: Database) => NonNullable<SchedulerOptions['traces']>;
    /** Free slots of workers of other processes, which never take anything. */
    othersFree?: number;
    /** Triggers start their first tasks themselves; told of what is ordered before it is stored. */
    onOrder?: (attempts: readonly Attempt[], started: Promise<StartedAhead>) => Promise<void>;
  } = {},
) {
  const database = input.url === undefined ? await createTestDatabase() : undefined;
  const url = input.url ?? database?.url ?? '';
  const db = openDatabase({
    url,
    maxOpenConns: 10,
    maxIdleConns: 5,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  const tenant = await ensureTenant(db.shared, 'default');
  let script: Script = input.script ?? (() => ({ state: 'success' }));
  const seen: Attempt[] = [];
  const cancelled: string[] = [];
  const triggerers: TriggererJob[] = [];
  const problems: unknown[] = [];
  let inFlight = 0;
  const listeners: (() => void)[] = [];

  /** One after another, as a worker does that is given the next attempt with the end of the last. */
  async function play(first: Attempt): Promise<void> {
    const started = await scheduler.attempts.start(first, { hostname: 'test', pid: 1 });
    if (started.kind === 'started') await goOn(first);
  }

  async function goOn(first: Attempt): Promise<void> {
    for (let attempt: Attempt | undefined = first; attempt;) {
      const outcome = await script(attempt);
      if (outcome === 'hang') return;
      const worker = input.goesOn === false ? undefined : { hostname: 'test', takesNew: true };
      const { next } = await scheduler.attempts.finishAndTakeNext(attempt, outcome, { worker });
      if (next) over();
      attempt = next?.attempt;
    }
  }

  function over(): void {
    inFlight -= 1;
    for (const tell of listeners) tell();
  }

  function take(attempt: Attempt, playing: () => Promise<void>): void {
    seen.push(attempt);
    inFlight += 1;
    playing()
      .catch((error: unknown) => problems.push(error))
      .finally(over);
  }

  const { onOrder } = input;
  const freeSlots = (): number => (input.capacity ?? 1_000) - inFlight;
  const executor: Executor = {
    capacity: freeSlots,
    peers: { ownFree: freeSlots, othersFree: () => input.othersFree ?? 0 },
    dispatch(attempts) {
      for (const attempt of attempts) take(attempt, () => play(attempt));
    },
    ...(onOrder && {
      readyWorker: () => ({
        hostname: 'test',
        readStartFacts: async (_trx, starting) => starting.map(({ taskId }) => `facts of ${taskId}`),
        async order(attempts, started) {
          for (const attempt of attempts)
            take(attempt, async () => ((await started)?.has(attempt.attemptId) ? goOn(attempt) : undefined));
          await onOrder(attempts, started);
        },
      }),
    }),
    adopt(attempt) {
      seen.push(attempt);
      inFlight += 1;
    },
    holds: () => seen,
    cancel: (ids) => void cancelled.push(...ids),
    onCapacity: (listener) => void listeners.push(listener),
    dispatchCallbacks: () => {},
    triggererPer: 'environment',
    dispatchTriggerers: (jobs) => void triggerers.push(...jobs),
    cancelTriggerers: () => {},
    ...(input.explainSilence && { explainSilence: input.explainSilence }),
  };
  const log = {
    info: () => {},
    warn: () => {},
    error: (details: object) => void problems.push(details),
  };
  const scheduler = createScheduler({
    db,
    graphs: createDagGraphs(),
    executor,
    dispatch: { bufferSize: 0, workers: 0 },
    ...(input.maxInfrastructureRetries !== undefined && { maxInfrastructureRetries: input.maxInfrastructureRetries }),
    hitlState: input.hitlState,
    ...(input.leaseMs !== undefined && { leases: { queuedMs: input.leaseMs, runningMs: input.leaseMs } }),
    ...(input.traces && { traces: input.traces(db) }),
    recordAssetEvents: async () => ({ effects: [] }),
    dueSources: [],
    notifyOthers: () => {},
    log,
  });
  const scope = db.tenant(tenant.id);

  async function register(spec: CompiledSpec): Promise<void> {
    const actor = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };
    const dagId = spec.dag.dag_id;
    const registration = await registerVersion(scope, { dagId, artifact: { spec }, actor });
    if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
    await scope.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
  }

  async function states(run: number): Promise<Record<string, string | null>> {
    const rows = await scope
      .selectFrom('task_instances')
      .select(['task_id', 'map_index', 'state'])
      .where('run', '=', run)
      .orderBy('task_id')
      .orderBy('map_index')
      .execute();
    return Object.fromEntries(
      rows.map((row) => [row.map_index < 0 ? row.task_id : `${row.task_id}[${row.map_index}]`, row.state]),
    );
  }

  const runState = async (run: number) =>
    (await scope.selectFrom('dag_runs').select('state').where('id', '=', run).executeTakeFirstOrThrow()).state;

  return {
    url,
    db,
    tenant,
    scope,
    scheduler,
    seen,
    cancelled,
    triggerers,
    problems,
    register,
    states,
    runState,
    setScript: (next: Script) => void (script = next),
    /** Registers and triggers; answers with the run's key. */
    async run(tasks: readonly TaskSpec[], rest: Partial<Parameters<typeof makeSpec>[0]> = {}): Promise<number> {
      const spec = makeSpec({ tasks, dagId: `dag_${crypto.randomUUID().slice(0, 8)}`, ...rest });
      await register(spec);
      return this.trigger(spec.dag.dag_id);
    },
    /** All of its tasks, as a person clears a run. */
    async clear(run: number): Promise<void> {
      const { dag_id: dagId, run_id: runId } = await scope
        .selectFrom('dag_runs')
        .select(['dag_id', 'run_id'])
        .where('id', '=', run)
        .executeTakeFirstOrThrow();
      const options = {
        onlyFailed: false,
        resetRun: true,
        onLatestVersion: false,
        preventRunning: false,
        includeUpstream: false,
        includeDownstream: false,
        tasks: null,
      };
      await clearRuns(db, scheduler, { tenantId: tenant.id, dagId, runs: [{ id: run, runId }], options });
    },
    async trigger(dagId: string, more: object = {}): Promise<number> {
      const result = await scheduler.trigger(tenant.id, { dagId, runType: 'manual', triggeredBy: 'test', ...more });
      if (result.kind !== 'created') throw new Error(`not created: ${JSON.stringify(result)}`);
      return result.run.id;
    },
    /** Waits until the run is in one of the states; says what it hung on otherwise. */
    async ended(run: number, wanted = ['success', 'failed']): Promise<string> {
      const state = await eventually(
        async () => {
          if (problems.length > 0) return 'problems';
          const state = await runState(run);
          if (wanted.includes(state)) return state;
          throw new Error(`run ${run} did not end: ${state} ${JSON.stringify(await states(run))}`);
        },
        { everyMs: 10 },
      );
      if (state !== 'problems') return state;
      throw new Error(`the scheduler had problems: ${JSON.stringify(problems, errorText)}`);
    },
    async close() {
      await scheduler.stop();
      await db.close();
      await database?.drop();
    },
  };
}

const errorText = (_key: string, value: unknown): unknown => (value instanceof Error ? `${value.stack}` : value);
