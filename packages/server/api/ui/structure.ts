/**
 * The graph of a DAG version: tasks and groups with their joins, the edges between them, and external dependencies on
 * request.
 */
import { Type } from 'typebox';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findAssetIds } from '../../db/assets/assets.ts';
import { findDag } from '../../db/dags/dags.ts';
import { findVersion } from '../../db/dags/dag-versions.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { referencesBetweenDags } from './dependencies.ts';
import { externalEdges } from './external-dependencies.ts';
import { graphEdge, graphNode } from './graph-parts.ts';
import type { GraphEdge, GraphNode } from './graph-parts.ts';
import { tasksOfGroup } from '../dags/tasks-of-group.ts';
import { roleOf, tasksAround, treeOf } from './dag-tree.ts';
import type { TreeNode } from './dag-tree.ts';

export function registerUiStructure(app: App, { db, scheduler }: Services): void {
  app.get(
    '/ui/structure/structure_data',
    {
      config: { grows: 'tasks', access: 'read:dag', refuses: ['not_found'] },
      schema: {
        operationId: 'structure_data',
        tags: ['UI'],
        summary: 'The graph of a DAG version',
        querystring: Type.Object({
          dag_id: Type.String(),
          include_upstream: Type.Boolean({ default: false }),
          include_downstream: Type.Boolean({ default: false }),
          depth: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
          root: Type.Optional(Type.String()),
          external_dependencies: Type.Boolean({ default: false }),
          version_number: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
        }),
        response: { 200: Type.Object({ nodes: Type.Array(Type.Unknown()), edges: Type.Array(Type.Unknown()) }) },
      },
    },
    async (request) => {
      const { dag_id: dagId, version_number: wanted } = request.query;
      const scope = databaseOf(request, db);
      if (!(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const version = await findVersion(scope, dagId, wanted);
      if (!version) throw new ApiError('not_found', `Dag with id ${dagId} and version number ${wanted} was not found`);
      const ref = { tenantId: principalOf(request).tenantId, dagId, versionNumber: version.version_number };
      const { spec } = await scheduler.graphs.get(db.shared, ref);
      const graph = graphOf(spec, tasksAround(spec, request.query));
      if (!request.query.external_dependencies) return graph;
      const references = await referencesBetweenDags(scope, ref.tenantId, (other) =>
        scheduler.graphs.get(db.shared, other),
      );
      const ids = await findAssetIds(scope, spec.assets.assets);
      const outside = externalEdges({ spec, ids, references, firstNode: graph.nodes[0]?.id });
      return { nodes: [...graph.nodes, ...outside.nodes], edges: [...graph.edges, ...outside.edges] };
    },
  );
}

export function graphOf(spec: CompiledSpec, only?: ReadonlySet<string>): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const tree = treeOf(spec, only);
  return { nodes: tree.map(nodeOf), edges: edgesOf(spec, only) };
}

const joinOf = (groupId: string, side: 'upstream' | 'downstream'): string => `${groupId}.${side}_join_id`;

function nodeOf(node: TreeNode): GraphNode {
  const { id, label, task, group } = node;
  if (task) {
    return graphNode({
      id,
      label,
      type: 'task',
      operator: task.operator.operator_name,
      is_mapped: node.isMapped ? true : null,
      setup_teardown_type: roleOf(node),
    });
  }
  const joins = (['upstream', 'downstream'] as const)
    .filter((side) => hasNeighbours(group, side))
    .map((side) => graphNode({ id: joinOf(id, side), label: '', type: 'join' }));
  return graphNode({
    id,
    label,
    type: 'task',
    is_mapped: node.isMapped,
    tooltip: group?.tooltip ?? '',
    children: [...(node.children ?? []).map(nodeOf), ...joins],
  });
}

const hasNeighbours = (group: TreeNode['group'], side: 'upstream' | 'downstream'): boolean =>
  group !== null && [...group[`${side}_task_ids`], ...group[`${side}_group_ids`]].length > 0;

/**
 * An edge to or from a group passes through the join of the group as one line. The task edges that it replaces are
 * omitted.
 */
function edgesOf(spec: CompiledSpec, only?: ReadonlySet<string>): GraphEdge[] {
  const labels = new Map(spec.labels.map(({ from, to, label }) => [`${from}\0${to}`, label]));
  const edges = new Map<string, GraphEdge>();
  const covered = new Set<string>();
  const add = (edge: Pick<GraphEdge, 'source_id' | 'target_id'>): void => {
    const key = `${edge.source_id}\0${edge.target_id}`;
    edges.set(key, graphEdge({ ...edge, label: labels.get(key) ?? null }));
  };
  const groups = spec.groups.filter((group) => group.group_id !== null);
  for (const group of groups) {
    const id = group.group_id ?? '';
    const inside = innerEnds(spec, id);
    for (const other of group.upstream_group_ids) {
      const far = innerEnds(spec, other);
      add({ source_id: joinOf(other, 'downstream'), target_id: joinOf(id, 'upstream') });
      cover(covered, far.leaves, inside.roots);
    }
    // The list also contains tasks of groups before or after this one. The line between the groups represents them.
    for (const other of outside(spec, group.upstream_task_ids, group.upstream_group_ids)) {
      add({ source_id: other, target_id: joinOf(id, 'upstream') });
      cover(covered, [other], inside.roots);
    }
    for (const other of outside(spec, group.downstream_task_ids, group.downstream_group_ids)) {
      add({ source_id: joinOf(id, 'downstream'), target_id: other });
      cover(covered, inside.leaves, [other]);
    }
    if (hasNeighbours(group, 'upstream')) {
      for (const root of inside.roots) add({ source_id: joinOf(id, 'upstream'), target_id: root });
    }
    if (hasNeighbours(group, 'downstream')) {
      for (const leaf of inside.leaves) add({ source_id: leaf, target_id: joinOf(id, 'downstream') });
    }
  }
  for (const { from, to, label, is_setup_teardown: isSetupTeardown } of spec.edges) {
    if (covered.has(`${from}\0${to}`)) continue;
    const edge = { source_id: from, target_id: to, label, is_setup_teardown: isSetupTeardown || null };
    edges.set(`${from}\0${to}`, graphEdge(edge));
  }
  const isShown = (id: string): boolean => !only || only.has(id) || id.endsWith('_join_id');
  return [...edges.values()]
    .filter((edge) => isShown(edge.source_id) && isShown(edge.target_id))
    .sort((a, b) => (`${a.source_id}\0${a.target_id}` < `${b.source_id}\0${b.target_id}` ? -1 : 1));
}

function cover(covered: Set<string>, from: readonly string[], to: readonly string[]): void {
  for (const source of from) for (const target of to) covered.add(`${source}\0${target}`);
}

function outside(spec: CompiledSpec, taskIds: readonly string[], groupIds: readonly string[]): string[] {
  const inGroups = new Set(groupIds.flatMap((id) => tasksOfGroup(spec, id)));
  return taskIds.filter((id) => !inGroups.has(id));
}

/** Returns the first and last tasks of a group. */
function innerEnds(spec: CompiledSpec, groupId: string): { roots: string[]; leaves: string[] } {
  const inside = new Set(tasksOfGroup(spec, groupId));
  const tasks = spec.tasks.filter((task) => inside.has(task.task_id));
  return {
    roots: tasks.filter((task) => !task.upstream_task_ids.some((id) => inside.has(id))).map((task) => task.task_id),
    leaves: tasks
      .filter(
        (task) => !task.is_teardown && !task.downstream_task_ids.some((id) => inside.has(id) && !isTeardown(spec, id)),
      )
      .map((task) => task.task_id),
  };
}

const isTeardown = (spec: CompiledSpec, taskId: string): boolean =>
  spec.tasks.some((task) => task.task_id === taskId && task.is_teardown);
