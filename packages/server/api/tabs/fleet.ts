/** What the page Fleet shows that no public endpoint has: load by queue, tasks that run longest, and delays. */
import { Type } from 'typebox';
import {
  DELAY_MINUTES,
  delaysOfRuns,
  delaysOfTasks,
  loadOfQueues,
  longestRunning,
} from '../../db/task-instances/fleet.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const Delays = Type.Object({
  count: Type.Integer({ description: 'How many started' }),
  p50: Nullable(Type.Number({ description: 'Seconds' })),
  p95: Nullable(Type.Number({ description: 'Seconds' })),
});

const Fleet = Type.Object(
  {
    queues: Type.Array(
      Type.Object({
        queue: Type.String(),
        running: Type.Integer(),
        queued: Type.Integer({ description: 'Handed to a worker, and not started' }),
        scheduled: Type.Integer({ description: 'Waiting for a slot or a worker' }),
        deferred: Type.Integer(),
        waiting_since: Nullable(DateTime),
      }),
    ),
    running: Type.Array(
      Type.Object({
        dag_id: Type.String(),
        dag_run_id: Type.String(),
        task_id: Type.String(),
        map_index: Type.Integer(),
        queue: Type.String(),
        hostname: Type.String({ description: 'The host, or the pod' }),
        start_date: Nullable(DateTime),
      }),
      { description: 'The tasks that run longest, at most 20' },
    ),
    task_delay: Delays,
    run_delay: Delays,
    delay_minutes: Type.Integer({ description: 'The time span of the delays' }),
  },
  { title: 'Fleet' },
);

export function registerFleet(app: App, { db }: Services): void {
  app.get(
    '/ui/fleet',
    {
      config: { grows: 'installation', access: 'read:task_instance' },
      schema: {
        operationId: 'get_fleet',
        tags: ['UI'],
        summary: 'What runs and waits now, by queue, and how long tasks and runs waited in the last minutes',
        response: { 200: Fleet },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { tenantId } = principalOf(request);
      const [queues, running, taskDelay, runDelay] = await Promise.all([
        loadOfQueues(scope, { tenantId }),
        longestRunning(scope),
        delaysOfTasks(scope, { tenantId }),
        delaysOfRuns(scope, { tenantId }),
      ]);
      return {
        queues,
        running: running.map(({ run_id: dagRunId, ...one }) => ({ ...one, dag_run_id: dagRunId })),
        task_delay: taskDelay,
        run_delay: runDelay,
        delay_minutes: DELAY_MINUTES,
      };
    },
  );
}
