/** What tries have used and cost: sums, the tries of a task instance, and advice from the last runs of a DAG. */
import { Type } from 'typebox';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import { USAGE_GROUPS, readUsageBy, readUsageOfLastRuns } from '../../db/work/read-usage.ts';
import type { UsageSums, UsageWait } from '../../db/work/read-usage.ts';
import { findDag } from '../../db/dags/dags.ts';
import { listTries } from '../../db/task-instances/try-history.ts';
import { readUsage } from '../../db/work/stored-usage.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { noSuchDag } from '../paths.ts';
import type { Services } from '../services.ts';
import { MapIndexQuery, RUN_PATH, TaskParams, existingRunKey, noSuchInstance } from '../task-instances/paths.ts';
import { advise } from './advise.ts';
import type { Requested } from './advise.ts';
import { costOf, pricesOf } from './prices.ts';
import { Cost, CostAdvice, TaskInstanceUsage } from './schemas.ts';

const TAGS = ['Cost'];
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const access = 'read:task_instance';

const MEANINGS: Readonly<Record<string, string>> = {
  ...WAIT_REASONS,
  slot: 'waits for a free slot of its pool, of its run or of a worker',
};

export function registerCost(app: App, services: Services): void {
  registerSums(app, services);
  registerUsageOfTries(app, services);
  registerAdvice(app, services);
}

function registerSums(app: App, { db, config }: Services): void {
  const prices = pricesOf(config);
  const amounts = (sums: UsageSums) => ({
    tries: sums.tries ?? 0,
    seconds: sums.seconds ?? 0,
    cpu_seconds: sums.cpu_seconds ?? 0,
    gib_seconds: sums.gib_seconds ?? 0,
    memory_bytes: sums.memory_bytes ?? 0,
    read_bytes: sums.read_bytes ?? 0,
    written_bytes: sums.written_bytes ?? 0,
    cost: prices.isSet ? (sums.cost ?? 0) : null,
  });
  app.get(
    '/api/v2/cost',
    {
      config: { access },
      schema: {
        operationId: 'get_cost',
        tags: TAGS,
        summary: 'Get what tries have used and cost, by DAG, task, owner, tag, asset, queue or tenant',
        description: 'A try counts on the day of its end, in UTC. A DAG with several owners counts for each of them.',
        querystring: Type.Object({
          by: Type.Enum([...USAGE_GROUPS], { default: 'dag' }),
          since: Type.Optional(
            Type.String({ format: 'date', description: 'The first day, in UTC. Default: seven days ago' }),
          ),
          dag_id: Type.Optional(Type.String({ description: 'Only this DAG' })),
          ...PagingQuery,
        }),
        response: { 200: Cost },
      },
    },
    async (request) => {
      const { by, dag_id: dagId, limit, offset } = request.query;
      const since = request.query.since ?? new Date(Date.now() - DEFAULT_DAYS * DAY_MS).toISOString().slice(0, 10);
      const { tenantId } = principalOf(request);
      const found = await readUsageBy(databaseOf(request, db), { tenantId, by, since, dagId, prices, limit, offset });
      const hasWaits = by !== 'task' && by !== 'asset' && by !== 'queue';
      const waits = Map.groupBy(found.waits, ({ key }) => key);
      return {
        by,
        since,
        currency: prices.isSet ? prices.currency : null,
        total: amounts(found.total),
        groups: found.groups.map((group) => ({
          key: group.key,
          ...amounts(group),
          waits: hasWaits ? (waits.get(group.key) ?? []).map(waitOf) : null,
        })),
        total_entries: found.entries,
      };
    },
  );
}

const waitOf = ({ reason, seconds }: Pick<UsageWait, 'reason' | 'seconds'>) => ({
  reason,
  meaning: MEANINGS[reason] ?? reason,
  seconds,
});

function registerUsageOfTries(app: App, { db, config }: Services): void {
  const prices = pricesOf(config);
  app.get(
    `${RUN_PATH}/:task_id/usage`,
    {
      config: { grows: 'tries', access },
      schema: {
        operationId: 'get_task_instance_usage',
        tags: TAGS,
        summary: 'Get what each try of a task instance has used, has cost, and has waited for',
        params: TaskParams,
        querystring: Type.Object(MapIndexQuery),
        response: { 200: TaskInstanceUsage },
      },
    },
    async (request) => {
      const { params } = request;
      const scope = databaseOf(request, db);
      const { id: run } = await existingRunKey(scope, params);
      const mapIndex = request.query.map_index;
      const rows = await listTries(scope, { run, taskId: params.task_id, mapIndex });
      if (rows.length === 0) throw noSuchInstance(params, mapIndex);
      const tries = rows.map(({ try_number, state, queue, usage }) => {
        const { cpu, run: seconds, gib, memory, read, written, waits = {} } = readUsage(usage);
        return {
          try_number,
          state,
          queue,
          seconds: seconds ?? null,
          cpu_seconds: cpu ?? null,
          gib_seconds: gib ?? null,
          memory_bytes: memory ?? null,
          read_bytes: read ?? null,
          written_bytes: written ?? null,
          cost: prices.isSet && cpu !== undefined ? costOf(prices, { queue, cpu, gib: gib ?? 0 }) : null,
          waits: Object.entries(waits)
            .map(([reason, waited]) => waitOf({ reason, seconds: waited }))
            .toSorted((a, b) => b.seconds - a.seconds),
        };
      });
      return { currency: prices.isSet ? prices.currency : null, tries, total_entries: tries.length };
    },
  );
}

function registerAdvice(app: App, { db, scheduler }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/costAdvice',
    {
      config: { grows: 'dag', access },
      schema: {
        operationId: 'get_cost_advice',
        tags: TAGS,
        summary: 'Get suitable resources of the tasks of a DAG, and what its last 30 runs show',
        params: Type.Object({ dag_id: Type.String() }),
        response: { 200: CostAdvice },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.params;
      const { tenantId } = principalOf(request);
      const scope = databaseOf(request, db);
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      const { current_version: versionNumber } = dag;
      const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber });
      const requested = new Map(spec.tasks.map((task) => [task.task_id, requestedOf(task.resources)]));
      const tasks = advise(await readUsageOfLastRuns(scope, { tenantId, dagId }), requested);
      return { tasks, total_entries: tasks.length };
    },
  );
}

function requestedOf(resources: unknown): Requested {
  const { cpu, memory } = (resources ?? {}) as { cpu?: unknown; memory?: unknown };
  return { cpu: textOf(cpu), memory: textOf(memory) };
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
