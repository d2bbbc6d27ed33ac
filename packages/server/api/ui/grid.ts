/** The grid: its rows (the task tree), its columns (runs), and its cells (states of tasks and groups, streamed run by run). */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { sql } from 'kysely';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { findDag } from '../../db/dags.ts';
import { listRuns } from '../../db/dag-runs.ts';
import type { DagRunRow } from '../../db/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf, principalOf } from '../access.ts';
import { filterOfQuery, runOrder } from '../dag-run-filters.ts';
import { runBody } from '../dag-run-bodies.ts';
import { noSuchDag } from '../dags.ts';
import { DateTime } from '../schemas.ts';
import type { App, Services } from '../services.ts';
import { roleOf, tasksAround, tasksOfGroup, treeOf } from './dag-tree.ts';
import type { TreeNode } from './dag-tree.ts';

const TAGS = ['UI'];
const DagParams = Type.Object({ dag_id: Type.String() });

const RunChoice = {
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
  order_by: Type.Optional(Type.Array(Type.String())),
  run_after_gte: Type.Optional(DateTime),
  run_after_gt: Type.Optional(DateTime),
  run_after_lte: Type.Optional(DateTime),
  run_after_lt: Type.Optional(DateTime),
  run_type: Type.Optional(Type.Array(Type.String())),
  state: Type.Optional(Type.Array(Type.String())),
  triggering_user: Type.Optional(Type.String()),
  triggering_user_prefix: Type.Optional(Type.String()),
};

const Around = {
  include_upstream: Type.Boolean({ default: false }),
  include_downstream: Type.Boolean({ default: false }),
  depth: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  root: Type.Optional(Type.String()),
};

type GridNode = {
  id: string;
  label: string;
  is_mapped: boolean;
  setup_teardown_type: 'setup' | 'teardown' | null;
  /** Null for a task: a list, even an empty one, would make a group of it. */
  children: GridNode[] | null;
};

export function registerUiGrid(app: App, services: Services): void {
  const { db, scheduler } = services;

  const specOf = async (tenantId: string, dagId: string, versionNumber: number): Promise<CompiledSpec> =>
    (await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber })).spec;

  app.get(
    '/ui/grid/structure/:dag_id',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_structure',
        tags: TAGS,
        summary:
          'Rows of the grid: tasks and groups of the newest version and of the versions that the chosen runs used',
        params: DagParams,
        querystring: Type.Object({ ...RunChoice, ...Around }),
        response: { 200: Type.Array(Type.Unknown()) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      const runs = await chosenRuns(scope, dagId, request.query);
      const versions = [...new Set([dag.current_version, ...runs.map((run) => run.version_number)])].sort(
        (a, b) => b - a,
      );
      const trees: GridNode[][] = [];
      for (const versionNumber of versions) {
        const spec = await specOf(tenantId, dagId, versionNumber);
        trees.push(treeOf(spec, tasksAround(spec, request.query)).map(gridNode));
      }
      return trees.reduce((merged, tree) => mergeTrees(merged, tree), trees[0] ?? []);
    },
  );

  app.get(
    '/ui/grid/runs/:dag_id',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_grid_runs',
        tags: TAGS,
        summary: 'Columns of the grid',
        params: DagParams,
        querystring: Type.Object(RunChoice),
        response: { 200: Type.Array(Type.Unknown()) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId } = request.params;
      const runs = await chosenRuns(scope, dagId, request.query);
      if (runs.length === 0 && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
      return runs.map(gridRun);
    },
  );

  app.get(
    '/ui/grid/ti_summaries/:dag_id',
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_grid_ti_summaries_stream',
        tags: TAGS,
        summary: 'Cells of the grid, one line of JSON per run',
        params: DagParams,
        querystring: Type.Object({ run_ids: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })) }),
        response: {
          200: {
            description: 'Lines of JSON, in the order asked for; a run without task instances has none',
            content: { 'application/x-ndjson': { schema: Type.String() } },
          },
        },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, db);
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const { run_ids: runIds = [] } = request.query;
      async function* lines(): AsyncGenerator<string> {
        for (const runId of runIds) {
          const summary = await summaryOf(scope, {
            dagId,
            runId,
            specOf: (version) => specOf(tenantId, dagId, version),
          });
          if (summary) yield `${JSON.stringify(summary)}\n`;
        }
      }
      return reply.type('application/x-ndjson').send(Readable.from(lines()) as never);
    },
  );
}

type RunQuery = {
  offset: number;
  limit: number;
  order_by?: string[];
  run_after_gte?: string;
  run_after_gt?: string;
  run_after_lte?: string;
  run_after_lt?: string;
  run_type?: string[];
  state?: string[];
  triggering_user?: string;
  triggering_user_prefix?: string;
};

async function chosenRuns(scope: TenantDb, dagId: string, query: RunQuery): Promise<DagRunRow[]> {
  const { triggering_user: user, triggering_user_prefix: prefix, order_by: orderBy, ...rest } = query;
  const filter = filterOfQuery(dagId, {
    ...rest,
    ...(user !== undefined && { triggering_user_name_pattern: user }),
    ...(prefix !== undefined && { triggering_user_name_prefix_pattern: prefix }),
  } as Parameters<typeof filterOfQuery>[1]);
  const { runs } = await listRuns(scope, {
    filter,
    order: runOrder(orderBy),
    limit: query.limit,
    offset: query.offset,
  });
  return runs;
}

function gridNode(node: TreeNode): GridNode {
  return {
    id: node.id,
    label: node.label,
    is_mapped: node.isMapped,
    setup_teardown_type: roleOf(node),
    children: node.children?.map(gridNode) ?? null,
  };
}

/** What older versions had and the newest has not comes after, so that old runs keep their rows. */
function mergeTrees(into: readonly GridNode[], from: readonly GridNode[]): GridNode[] {
  const known = new Map(into.map((node) => [node.id, node]));
  const merged = into.map((node) => {
    const other = from.find(({ id }) => id === node.id);
    return node.children && other?.children ? { ...node, children: mergeTrees(node.children, other.children) } : node;
  });
  return [...merged, ...from.filter((node) => !known.has(node.id))];
}

function gridRun(run: DagRunRow) {
  const body = runBody(run);
  const started = run.start_date === null ? undefined : Date.parse(run.start_date);
  const ended = run.end_date === null ? Date.now() : Date.parse(run.end_date);
  return {
    dag_id: run.dag_id,
    run_id: run.run_id,
    queued_at: run.queued_at,
    start_date: run.start_date,
    end_date: run.end_date,
    run_after: run.run_after,
    state: run.state,
    run_type: body.run_type,
    dag_versions: body.dag_versions,
    has_missed_deadline: false,
    duration: started === undefined ? 0 : Math.max(0, (ended - started) / 1_000),
  };
}

type Cell = {
  task_id: string;
  task_display_name: string;
  state: TaskStateOrNone;
  child_states: Record<string, number> | null;
  min_start_date: string | null;
  max_end_date: string | null;
  dag_version_number: number | null;
};

type Counted = {
  task_id: string;
  state: TaskStateOrNone;
  count: number;
  is_mapped: boolean;
  started: string | null;
  ended: string | null;
  version: number;
};

/** The first of these that occurs is the state of the whole. */
const PRECEDENCE: readonly TaskStateOrNone[] = [
  'failed',
  'upstream_failed',
  'up_for_retry',
  'up_for_reschedule',
  'queued',
  'scheduled',
  'deferred',
  'running',
  'restarting',
  null,
  'success',
  'skipped',
  'removed',
];

async function summaryOf(
  scope: TenantDb,
  input: { dagId: string; runId: string; specOf: (versionNumber: number) => Promise<CompiledSpec> },
): Promise<{ run_id: string; dag_id: string; task_instances: Cell[] } | undefined> {
  const run = await scope
    .selectFrom('dag_runs')
    .select(['id', 'tenant_id', 'version_number'])
    .where('dag_id', '=', input.dagId)
    .where('run_id', '=', input.runId)
    .executeTakeFirst();
  if (!run) return undefined;
  // Counted in the database: a task with ten thousand instances is one cell.
  const { rows } = await sql<Counted>`
    select task_id, state, count(*) as count, bool_or(map_index >= 0) as is_mapped, min(start_date) as started,
      max(end_date) as ended, max(version_number) as version
    from task_instances where tenant_id = ${run.tenant_id} and run = ${run.id}
    group by task_id, state order by task_id`.execute(scope);
  if (rows.length === 0) return undefined;
  const spec = await input.specOf(run.version_number);
  return { run_id: input.runId, dag_id: input.dagId, task_instances: cellsOf(spec, rows) };
}

export function cellsOf(spec: CompiledSpec, rows: readonly Counted[]): Cell[] {
  const byTask = new Map<string, Counted[]>();
  for (const row of rows) byTask.set(row.task_id, [...(byTask.get(row.task_id) ?? []), row]);
  const names = new Map(spec.tasks.map((task) => [task.task_id, task]));
  const mappedTasks = new Set(mappedTaskIds(spec));
  const cells = [...byTask].map(([taskId, counted]): Cell => {
    const isMapped = mappedTasks.has(taskId) || counted.some((row) => row.is_mapped);
    return {
      ...cellOf(taskId, names.get(taskId)?.display_name ?? taskId, counted),
      ...(!isMapped && { child_states: null }),
    };
  });
  const groups = spec.groups.flatMap((group): Cell[] => {
    if (group.group_id === null) return [];
    const counted = tasksOfGroup(spec, group.group_id).flatMap((id) => byTask.get(id) ?? []);
    return counted.length === 0 ? [] : [cellOf(group.group_id, group.display_name ?? group.group_id, counted)];
  });
  return [...cells, ...groups];
}

function mappedTaskIds(spec: CompiledSpec): string[] {
  const inMapped = spec.groups
    .filter((group) => group.group_id !== null && group.mapping !== null)
    .flatMap((group) => tasksOfGroup(spec, group.group_id ?? ''));
  return [...spec.tasks.filter((task) => task.mapping !== null).map((task) => task.task_id), ...inMapped];
}

function cellOf(id: string, name: string, counted: readonly Counted[]): Cell {
  const states: Record<string, number> = {};
  for (const { state, count } of counted) states[state ?? 'None'] = (states[state ?? 'None'] ?? 0) + count;
  const present = new Set(counted.map(({ state }) => state));
  const starts = counted.flatMap(({ started }) => started ?? []).sort();
  const ends = counted.flatMap(({ ended }) => ended ?? []).sort();
  return {
    task_id: id,
    task_display_name: name,
    state: PRECEDENCE.find((state) => present.has(state)) ?? null,
    child_states: states,
    min_start_date: starts[0] ?? null,
    max_end_date: ends.at(-1) ?? null,
    dag_version_number: Math.max(...counted.map(({ version }) => version)),
  };
}
