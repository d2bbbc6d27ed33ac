/**
 * A control plane that can be stopped at any step, the ones after it, and a worker that outlives them all: it repeats what was
 * not answered, as agents do, and writes down what it has run. The engine and the database are the real ones.
 *
 * The worker does one thing at a time, and only while the scheduler is idle. So the steps of a control plane come in the same
 * order in every run, and each of them can be named.
 */
import { isOutage } from '@svc/server/db/outage.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import type { Executor } from '@svc/server/engine/executor.ts';
import { createScheduler } from '@svc/server/engine/scheduler.ts';
import type { Scheduler } from '@svc/server/engine/scheduler.ts';
import type { Attempt, StartedAhead } from '@svc/server/engine/shared/attempts.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { openBreakableLine } from '../postgres/breakable-line.ts';
import type { BreakableLine } from '../postgres/breakable-line.ts';
import { createTestDatabase } from '../postgres/test-database.ts';

/** A process: `line` is missing where nothing is to happen to it. */
export type Life = { readonly db: Database; readonly scheduler: Scheduler; readonly line: BreakableLine | undefined };

export type PlantOptions = {
  /** Triggers start first tasks themselves. */
  startsAhead?: boolean;
  /** The worker takes the next attempt with the end of one. Default true. */
  goesOn?: boolean;
};

export type CrashPlant = Awaited<ReturnType<typeof createCrashPlant>>;

/** Of the worker. The default pool has as many. */
export const SLOTS = 3;
const LIMITS = { maxIdleConns: 4, statementTimeoutMs: 30_000, idleInTransactionTimeoutMs: 30_000 };
const LEASE_MS = 60_000;
const HOST = { hostname: 'worker', pid: 1 };
const STOPPED = Symbol('stopped');

export async function createCrashPlant() {
  const { url, drop } = await createTestDatabase();
  const db = openDatabase({ url, maxOpenConns: 8, ...LIMITS });
  const tenant = await ensureTenant(db.shared, 'default');
  const scope = db.tenant(tenant.id);
  await scope.updateTable('pools').set({ slots: SLOTS }).where('name', '=', 'default_pool').execute();

  let options: PlantOptions = {};
  let life: Life | undefined;
  let next = Promise.withResolvers<Life>();
  const problems: unknown[] = [];
  /** Bodies that were run, in their order: `run/task#try`. */
  let bodies: string[] = [];
  const held = new Map<string, Promise<void>>();
  const runningNow = new Set<string>();
  let opening = Promise.withResolvers<void>();
  let isOpen = true;
  let room = SLOTS;

  const current = (): Promise<Life> => (life ? Promise.resolve(life) : next.promise);

  /** Asks the process that is there, and the one after it where no answer came. */
  async function ask<T>(question: (scheduler: Scheduler) => Promise<T>): Promise<T> {
    for (;;) {
      const asked = await current();
      const stopped = asked.line?.stopped.then((): typeof STOPPED => STOPPED) ?? new Promise<typeof STOPPED>(() => {});
      try {
        const answer = await Promise.race([asked.scheduler.idle().then(() => question(asked.scheduler)), stopped]);
        if (answer !== STOPPED) return answer;
        if (life === asked) life = undefined;
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
    }
  }

  function take(attempt: Attempt, ahead?: Promise<StartedAhead>, by?: Life): void {
    if (held.has(attempt.attemptId)) return;
    const work = turn(() => play(attempt, ahead, by))
      .catch((error: unknown) => void problems.push(error))
      .finally(() => held.delete(attempt.attemptId));
    held.set(attempt.attemptId, work);
  }

  /** One after another. */
  let last: Promise<unknown> = Promise.resolve();
  function turn(work: () => Promise<void>): Promise<void> {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  }

  async function play(attempt: Attempt, ahead?: Promise<StartedAhead>, by?: Life): Promise<void> {
    await opening.promise;
    const isOver = by?.line?.stopped.then(() => undefined);
    const known = ahead && (await Promise.race(isOver ? [ahead, isOver] : [ahead]));
    if (!known?.has(attempt.attemptId)) {
      const { kind } = await ask(({ attempts }) => attempts.start(attempt, HOST));
      if (kind === 'stop') return;
    }
    for (let own: Attempt | undefined = attempt; own;) {
      const name = `${own.run}/${own.taskId}`;
      if (runningNow.has(name)) problems.push(new Error(`${name} runs twice at the same time`));
      runningNow.add(name);
      bodies.push(`${name}#${own.tryNumber}`);
      runningNow.delete(name);
      own = await finish(own);
    }
  }

  async function finish(own: Attempt): Promise<Attempt | undefined> {
    const worker = options.goesOn === false ? undefined : { hostname: HOST.hostname, takesNew: true };
    const { answer, next: following } = await ask(({ attempts }) =>
      attempts.finishAndTakeNext(own, { state: 'success' }, { worker }),
    );
    if (answer !== 'recorded') problems.push(new Error(`the end of ${own.taskId} was ${answer}`));
    return following?.attempt;
  }

  /** Of a process: what it says after its end is not heard. */
  function executorOf(own: () => Life | undefined): Executor & { tell(): void } {
    const listeners: (() => void)[] = [];
    const isAlive = (): boolean => own()?.line?.isStopped() !== true;
    return {
      tell: () => listeners.forEach((listener) => listener()),
      capacity: () => room - held.size,
      dispatch(attempts) {
        if (isAlive()) for (const attempt of attempts) take(attempt);
      },
      ...(options.startsAhead && {
        readyWorker: () => ({
          hostname: HOST.hostname,
          readStartFacts: async (_trx, starting) => starting.map(() => null),
          async order(attempts, started) {
            if (isAlive()) for (const attempt of attempts) take(attempt, started, own());
          },
        }),
      }),
      adopt: () => {},
      holds: () => [],
      cancel: () => {},
      onCapacity: (listener) => void listeners.push(listener),
      dispatchCallbacks: () => {},
      triggererPer: 'environment',
      dispatchTriggerers: () => {},
      cancelTriggerers: () => {},
    };
  }
  let told: { tell(): void } | undefined;

  function begin(line?: BreakableLine, leaseMs = LEASE_MS): Life {
    const own = line ? openDatabase({ url: line.url, maxOpenConns: 8, ...LIMITS, limits: { endGraceMs: 1 } }) : db;
    let made: Life | undefined;
    const executor = executorOf(() => made);
    const scheduler = createScheduler({
      db: own,
      graphs: createDagGraphs(),
      executor,
      dispatch: { bufferSize: 0, workers: 0 },
      maxInfrastructureRetries: 3,
      leases: { queuedMs: leaseMs, runningMs: leaseMs },
      recordAssetEvents: async () => ({ effects: [] }),
      dueSources: [],
      notifyOthers: () => {},
      log: {
        info: () => {},
        warn: () => {},
        error: (details) => void (line?.isStopped() || problems.push(details)),
      },
    });
    told = executor;
    made = { db: own, scheduler, line };
    life = made;
    next.resolve(made);
    next = Promise.withResolvers();
    return made;
  }

  /** Until neither the scheduler nor the worker has anything to do, or the process has stopped. */
  async function settle(own: Life): Promise<void> {
    const isOver = own.line?.stopped ?? new Promise<void>(() => {});
    for (;;) {
      const quiet = own.scheduler.idle().then(() => true);
      if (!(await Promise.race([quiet, isOver]))) return;
      if (held.size === 0 || !isOpen) return;
      if ((await Promise.race([Promise.all(held.values()).then(() => true), isOver])) === undefined) return;
    }
  }

  return {
    db,
    scope,
    tenant,
    problems,
    settle,
    ask,
    bodies: () => bodies,
    /** Attempts that the worker has and has not ended. */
    held: () => held.size,
    /** Nothing of the worker is left from before. */
    reset(wanted: PlantOptions) {
      options = wanted;
      bodies = [];
      life = undefined;
    },
    /** A process whose way to the database can be broken. */
    beginMortal: () => begin(openBreakableLine(url)),
    /** A process that nothing happens to; with a lease of 0, whatever is silent has been so for long enough. */
    beginHealthy: (leaseMs?: number) => begin(undefined, leaseMs),
    /** The worker waits with whatever it is given. */
    holdWorker() {
      isOpen = false;
      opening = Promise.withResolvers();
    },
    releaseWorker() {
      isOpen = true;
      opening.resolve();
    },
    setRoom(slots: number) {
      room = slots;
      told?.tell();
    },
    /** Takes leave of a process: of one that has stopped, whatever it still waits for never comes. */
    async end({ scheduler, db: own, line }: Life): Promise<void> {
      const ending = scheduler.stop().then(() => (line ? own.close() : undefined));
      if (line?.isStopped()) void own.close();
      else await ending;
      line?.forget();
    },
    async close() {
      await db.close();
      await drop();
    },
  };
}
