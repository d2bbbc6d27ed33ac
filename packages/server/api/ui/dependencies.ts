/** Dependencies between DAGs and assets, for all DAGs or around one node. */
import { LRUCache } from 'lru-cache';
import { Type } from 'typebox';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { listAssetUses, stateOfReferences } from '../../db/assets/uses.ts';
import type { AssetUse } from '../../db/assets/uses.ts';
import { findDagsNamingOthers } from '../../db/dags/spec-search.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { sendJson } from '../../http/send-raw.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { dagReferences, referenceNode } from './external-dependencies.ts';
import type { DagReference } from './external-dependencies.ts';

type GraphNode = { id: string; label: string; type: string; team: null };
type GraphEdge = { source_id: string; target_id: string };

/** Number of cached graphs, one for each tenant and kind. */
const KEPT_GRAPHS = 8;

export function registerUiDependencies(app: App, { db, scheduler }: Services): void {
  // A graph is valid until a DAG or something that it refers to changes.
  const kept = new LRUCache<string, KeptGraph>({ max: KEPT_GRAPHS });
  app.get(
    '/ui/dependencies',
    {
      config: { grows: 'dags', access: 'read:dag', refuses: ['not_found'] },
      schema: {
        operationId: 'get_dependencies',
        tags: ['UI'],
        summary: 'Dependencies between DAGs and assets',
        querystring: Type.Object({
          node_id: Type.Optional(
            Type.String({ description: '`dag:<id>` or `asset:<id>`: only what is connected with it' }),
          ),
          dependency_type: Type.Union([Type.Literal('scheduling'), Type.Literal('data')], { default: 'scheduling' }),
        }),
        response: { 200: Type.Object({ nodes: Type.Array(Type.Unknown()), edges: Type.Array(Type.Unknown()) }) },
      },
    },
    async (request, reply) => {
      const { tenantId } = principalOf(request);
      const scope = databaseOf(request, db);
      const { node_id: nodeId, dependency_type: kind } = request.query;
      const key = `${tenantId} ${kind} ${await stateOfReferences(scope, tenantId)}`;
      let graph = kept.get(key);
      if (!graph) {
        const references = await listAssetUses(scope, tenantId);
        graph = keptGraph(
          kind === 'data'
            ? dataGraph(references)
            : schedulingGraph(
                references,
                await referencesBetweenDags(scope, tenantId, (version) => scheduler.graphs.get(db.shared, version)),
              ),
        );
        kept.set(key, graph);
      }
      // The text is sent whole. Serialising item by item, as lists are, would take several times as long for thousands
      // of DAGs.
      return sendJson(reply, nodeId === undefined ? graph.text : JSON.stringify(connectedWith(graph, nodeId)));
    },
  );
}

type LoadGraph = (ref: { tenantId: string; dagId: string; versionNumber: number }) => Promise<{ spec: CompiledSpec }>;

/** Opens only specs that name another DAG. */
export async function referencesBetweenDags(
  scope: TenantDb,
  tenantId: string,
  load: LoadGraph,
): Promise<DagReference[]> {
  const found: DagReference[] = [];
  for (const row of await findDagsNamingOthers(scope, tenantId)) {
    const { spec } = await load({ tenantId, dagId: row.dag_id, versionNumber: row.current_version });
    found.push(...dagReferences(spec));
  }
  return found;
}

class Graph {
  readonly nodes = new Map<string, GraphNode>();
  readonly edges = new Map<string, GraphEdge>();

  node(id: string, label: string, type: string): string {
    this.nodes.set(id, { id, label, type, team: null });
    return id;
  }

  edge(source: string, target: string): void {
    this.edges.set(`${source}\0${target}`, { source_id: source, target_id: target });
  }

  get value() {
    return { nodes: [...this.nodes.values()], edges: [...this.edges.values()] };
  }
}

type GraphValue = Graph['value'];

/** Names assets by number and aliases by name, as the links of the UI do. */
const assetNode = (graph: Graph, { kind, id, name }: AssetUse): string =>
  graph.node(`${kind}:${kind === 'asset' ? id : name}`, name, kind);

/** Edges from DAG to asset to DAG, and between DAGs that trigger or wait for each other. */
function schedulingGraph(references: readonly AssetUse[], between: readonly DagReference[]): GraphValue {
  const graph = new Graph();
  for (const reference of references) {
    if (reference.role === 'inlet') continue;
    const dag = graph.node(`dag:${reference.dag_id}`, reference.dag_id, 'dag');
    const asset = assetNode(graph, reference);
    if (reference.role === 'schedule') graph.edge(asset, dag);
    else graph.edge(dag, asset);
  }
  for (const reference of between) {
    const { dagId, other, taskId, kind } = reference;
    const from = graph.node(`dag:${dagId}`, dagId, 'dag');
    const to = graph.node(`dag:${other}`, other, 'dag');
    const middle = graph.node(referenceNode(reference), taskId, kind);
    graph.edge(kind === 'trigger' ? from : to, middle);
    graph.edge(middle, kind === 'trigger' ? to : from);
  }
  return graph.value;
}

/** Edges from task to asset to task: what tasks read and write. */
function dataGraph(references: readonly AssetUse[]): GraphValue {
  const graph = new Graph();
  for (const reference of references) {
    // An asset without a reading or writing task is a node without edges.
    if (reference.kind === 'asset-alias') continue; // an alias stands for assets and is not one itself
    assetNode(graph, reference);
    if (reference.role === 'schedule') continue;
    const task = graph.node(
      `task:${reference.dag_id}__SEPARATOR__${reference.task_id}`,
      `${reference.dag_id}.${reference.task_id}`,
      'task',
    );
    const asset = assetNode(graph, reference);
    if (reference.role === 'outlet') graph.edge(task, asset);
    else graph.edge(asset, task);
  }
  return graph.value;
}

/** A graph with what every request needs: its text, and the neighbours of each node. */
type KeptGraph = GraphValue & { text: string; neighbours: ReadonlyMap<string, readonly string[]> };

function keptGraph(graph: GraphValue): KeptGraph {
  const neighbours = new Map<string, string[]>();
  const join = (one: string, other: string): void => {
    const known = neighbours.get(one);
    if (known) known.push(other);
    else neighbours.set(one, [other]);
  };
  for (const { source_id: from, target_id: to } of graph.edges) {
    join(from, to);
    join(to, from);
  }
  return { ...graph, text: JSON.stringify(graph), neighbours };
}

function connectedWith({ nodes, edges, neighbours }: KeptGraph, nodeId: string): GraphValue {
  if (!nodes.some((node) => node.id === nodeId)) {
    throw new ApiError(
      'not_found',
      `Unique connected component not found, got [] for connected components of node ${nodeId}`,
    );
  }
  const found = new Set([nodeId]);
  // A set can grow during its iteration.
  for (const id of found) for (const next of neighbours.get(id) ?? []) found.add(next);
  return {
    nodes: nodes.filter((node) => found.has(node.id)),
    edges: edges.filter((edge) => found.has(edge.source_id)),
  };
}
