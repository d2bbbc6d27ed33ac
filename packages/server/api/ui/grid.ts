/**
 * The grid: its rows (the task tree), its columns (runs), and its cells (states of tasks and groups, streamed run by
 * run).
 */
import { nowIso } from '@svc/spec/clock.ts';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findDag } from '../../db/dags/dags.ts';
import { listRuns } from '../../db/dag-runs/dag-runs.ts';
import type { ListedRun } from '../../db/dag-runs/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { filterOfQuery, runOrder } from '../dag-runs/filters.ts';
import { refuseConfOrder } from '../dag-runs/search-conf.ts';
import { versionsOf } from '../dag-runs/bodies.ts';
import { RUN_SORT_KEYS } from '../dag-runs/schemas.ts';
import { noSuchDag } from '../paths.ts';
import { rangeProperties } from '../../http/ranges.ts';
import { DateTime, OrderByQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { listDeadlines } from '../../db/dag-runs/deadlines.ts';
import { deadlinesOf } from './deadlines.ts';
import { roleOf, tasksAround, treeOf } from './dag-tree.ts';
import type { TreeNode } from './dag-tree.ts';
import { keepLines, readCells } from './grid-cells.ts';
import { sendRaw } from '../../http/send-raw.ts';

const TAGS = ['UI'];
const DagParams = Type.Object({ dag_id: Type.String() });

const RunQuery = Type.Object({
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
  ...OrderByQuery(RUN_SORT_KEYS),
  ...rangeProperties({ run_after: DateTime }),
  run_type: Type.Optional(Type.Array(Type.String())),
  state: Type.Optional(Type.Array(Type.String())),
  triggering_user: Type.Optional(Type.String()),
  triggering_user_prefix: Type.Optional(Type.String()),
});

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
  doc_md: string | null;
  /** Null for a task. A list, even an empty one, would make it a group. */
  children: GridNode[] | null;
};

export function registerUiGrid(app: App, services: Services): void {
  const { db, scheduler } = services;
  const kept = keepLines();

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
        querystring: Type.Object({ ...RunQuery.properties, ...Around }),
        response: { 200: Type.Array(Type.Unknown()) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      const dag = await findDag(scope, dagId);
      if (!dag) throw noSuchDag(dagId);
      refuseConfOrder(request, request.query.order_by);
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
        querystring: RunQuery,
        response: { 200: Type.Array(Type.Unknown()) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { tenantId } = principalOf(request);
      const { dag_id: dagId } = request.params;
      // This check comes first. In lists of runs, `~` means all DAGs, but a grid shows one DAG.
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      refuseConfOrder(request, request.query.order_by);
      const runs = await chosenRuns(scope, dagId, request.query);
      const specs = new Map<number, CompiledSpec>();
      for (const version of new Set(runs.map((run) => run.version_number))) {
        specs.set(version, await specOf(tenantId, dagId, version));
      }
      const now = nowIso();
      const hasDeadlines = [...specs.values()].some(({ dag }) => dag.deadlines.length > 0);
      const ids = hasDeadlines ? runs.map(({ id }) => id) : [];
      const stored = await listDeadlines(scope, ids);
      return runs.map((run) => {
        const spec = specs.get(run.version_number);
        return gridRun(run, spec !== undefined && deadlinesOf(spec, { run, stored, now }).some(({ missed }) => missed));
      });
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
      const lines = readCells(scope, {
        tenantId,
        dagId,
        runIds,
        kept,
        specOf: (version) => specOf(tenantId, dagId, version),
      });
      return sendRaw(reply.type('application/x-ndjson'), Readable.from(lines));
    },
  );
}

async function chosenRuns(scope: TenantDb, dagId: string, query: Static<typeof RunQuery>): Promise<ListedRun[]> {
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
    doc_md: node.group?.doc_md ?? null, // as in Airflow, a task has its text elsewhere
    children: node.children?.map(gridNode) ?? null,
  };
}

/** Appends nodes that only older versions have, so that old runs keep their rows. */
function mergeTrees(into: readonly GridNode[], from: readonly GridNode[]): GridNode[] {
  const known = new Map(into.map((node) => [node.id, node]));
  const merged = into.map((node) => {
    const other = from.find(({ id }) => id === node.id);
    return node.children && other?.children ? { ...node, children: mergeTrees(node.children, other.children) } : node;
  });
  return [...merged, ...from.filter((node) => !known.has(node.id))];
}

function gridRun(run: ListedRun, hasMissedDeadline: boolean) {
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
    run_type: run.run_type,
    dag_versions: versionsOf(run),
    has_missed_deadline: hasMissedDeadline,
    has_note: run.note !== null,
    duration: started === undefined ? 0 : Math.max(0, (ended - started) / 1_000),
  };
}
