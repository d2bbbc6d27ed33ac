/** A control plane in which runs really fail: the real engine runs them, scripted workers play the tasks and write logs. */
import { eventually } from '../eventually.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { makeSpec } from '../spec/make-spec.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import type { AttemptOutcome } from '@svc/server/engine/shared/attempts.ts';
import { startScriptedScheduler } from '../engine/scripted-scheduler.ts';
import { startTestServer } from '../server/test-server.ts';

/** How a task ends, and what it writes first. */
export type Ending = Partial<AttemptOutcome> & { log?: string; hangs?: true };

export type FailedRuns = Awaited<ReturnType<typeof startFailedRuns>>;

export const logLine = (event: string, level = 'info'): string =>
  `${JSON.stringify({ timestamp: '2026-11-15T06:31:12.123456Z', level, logger: 'task', event })}\n`;

export async function startFailedRuns(flags: Record<string, string> = {}) {
  // One engine is enough; the server's own has no workers here.
  const server = await startTestServer({ 'scheduler.enabled': 'false', ...flags });
  const engine = await startScriptedScheduler({ url: server.config.database.url });
  const logs = createDiskLogStore({ dir: server.config.logs.dir });
  const endings = new Map<string, (tryNumber: number) => Ending>();

  /** Running, with all that they write written: a task runs before its script begins. */
  const hanging = new Set<string>();
  engine.setScript(async (attempt) => {
    const { hangs, log, ...outcome } = endings.get(`${attempt.dagId} ${attempt.taskId}`)?.(attempt.tryNumber) ?? {};
    if (log !== undefined) await writeLog({ ...attempt, runId: await runIdOf(attempt.run) }, log);
    if (hangs) hanging.add(`${attempt.run} ${attempt.taskId}`);
    return hangs ? ('hang' as never) : { state: 'success', ...outcome };
  });

  const runIdOf = async (run: number): Promise<string> => {
    const row = await engine.scope
      .selectFrom('dag_runs')
      .select('run_id')
      .where('id', '=', run)
      .executeTakeFirstOrThrow();
    return row.run_id;
  };

  type Place = {
    dagId: string;
    runId: string;
    taskId: string;
    mapIndex?: number;
    tryNumber?: number;
    tenantId?: string;
  };
  async function writeLog(
    { tenantId = engine.tenant.id, mapIndex = -1, tryNumber = 1, ...place }: Place,
    text: string,
  ) {
    const whole = { ...place, tenantId, mapIndex, tryNumber };
    await logs.append(whole, await logs.size(whole), Buffer.from(text));
  }

  async function untilStates(run: number, reached: Record<string, string | null>): Promise<void> {
    await eventually(async () => {
      const states = await engine.states(run);
      const isReached = Object.entries(reached).every(
        ([taskId, state]) => states[taskId] === state && (state !== 'running' || hanging.has(`${run} ${taskId}`)),
      );
      if (!isReached) throw new Error(`not reached: ${JSON.stringify(states)}`);
    });
  }

  return {
    server,
    engine,
    writeLog,
    /** Registers a version without running it. */
    async register(dagId: string, tasks: readonly TaskSpec[], source?: string): Promise<void> {
      await engine.register(makeSpec({ dagId, tasks, ...(source !== undefined && { source }) }));
    },
    /** Triggers a run and waits until it has ended, or until its tasks have reached the given states. */
    async run(
      dagId: string,
      endingOf: Record<string, Ending | ((tryNumber: number) => Ending)>,
      reached?: Record<string, string | null>,
    ) {
      for (const [taskId, ending] of Object.entries(endingOf)) {
        endings.set(`${dagId} ${taskId}`, typeof ending === 'function' ? ending : () => ending);
      }
      const run = await engine.trigger(dagId);
      if (reached) await untilStates(run, reached);
      else await engine.ended(run);
      return { run, runId: await runIdOf(run) };
    },
    async close() {
      await engine.close();
      await logs.close();
      await server.close();
    },
  };
}
