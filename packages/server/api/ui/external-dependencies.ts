/** What a DAG waits for and what it causes outside itself, as nodes and edges of its graph. */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { graphEdge, graphNode } from './graph-parts.ts';
import type { GraphEdge, GraphNode } from './graph-parts.ts';

export function externalEdges(spec: CompiledSpec): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const nodes = new Map<string, GraphNode>();
  const edges: GraphEdge[] = [];
  const roots = spec.tasks.filter((task) => task.upstream_task_ids.length === 0).map((task) => task.task_id);
  for (const asset of spec.assets.assets) {
    const id = `asset:${asset.name}`;
    const isDrawn = asset.scheduled || asset.outlet_of.length > 0;
    if (isDrawn) nodes.set(id, graphNode({ id, label: asset.name, type: 'asset' }));
    if (asset.scheduled)
      for (const root of roots) edges.push(graphEdge({ source_id: id, target_id: root, is_source_asset: true }));
    for (const task of asset.outlet_of) edges.push(graphEdge({ source_id: task, target_id: id }));
  }
  for (const alias of spec.assets.aliases) {
    const id = `asset-alias:${alias.name}`;
    if (!alias.scheduled && alias.outlet_of.length === 0) continue;
    nodes.set(id, graphNode({ id, label: alias.name, type: 'asset-alias' }));
    if (alias.scheduled)
      for (const root of roots) edges.push(graphEdge({ source_id: id, target_id: root, is_source_asset: true }));
    for (const task of alias.outlet_of) edges.push(graphEdge({ source_id: task, target_id: id }));
  }
  for (const { taskId, dagId, kind } of dagReferences(spec)) {
    const id = `${kind}:${dagId}`;
    nodes.set(id, graphNode({ id, label: dagId, type: kind }));
    edges.push(
      graphEdge(kind === 'sensor' ? { source_id: id, target_id: taskId } : { source_id: taskId, target_id: id }),
    );
  }
  return { nodes: [...nodes.values()], edges };
}

/** Other DAGs that tasks name: sensors wait for them, triggers start them. */
export function dagReferences(spec: CompiledSpec): { taskId: string; dagId: string; kind: 'sensor' | 'trigger' }[] {
  return spec.tasks.flatMap((task) => {
    const value = (name: string): unknown => task.arguments[name] ?? task.templates[name];
    const trigger = value('trigger_dag_id');
    if (typeof trigger === 'string') return [{ taskId: task.task_id, dagId: trigger, kind: 'trigger' as const }];
    const external = value('external_dag_id');
    if (typeof external !== 'string') return [];
    const kind = task.operator.is_sensor ? ('sensor' as const) : ('trigger' as const);
    return [{ taskId: task.task_id, dagId: external, kind }];
  });
}
