/**
 * What a DAG waits for and causes outside itself, as nodes and edges of its graph. These are the assets of its schedule
 * behind gates that lead to the first node, assets that its tasks write, and other DAGs that its tasks wait for or
 * trigger.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { AssetCondition } from '@svc/spec/timetables/schema.ts';
import type { AssetIds } from '../../db/assets/assets.ts';
import { conditionOf } from '../dags/asset-expression.ts';
import { graphEdge, graphNode } from './graph-parts.ts';
import type { GraphEdge, GraphNode } from './graph-parts.ts';

/** A reference to another DAG: a task of `dagId` waits for it (`sensor`) or triggers it (`trigger`). */
export type DagReference = { dagId: string; taskId: string; other: string; kind: 'sensor' | 'trigger' };

export const referenceNode = ({ dagId, taskId, other, kind }: DagReference): string =>
  kind === 'sensor' ? `sensor:${other}:${dagId}:${taskId}` : `trigger:${dagId}:${other}:${taskId}`;

type Drawing = { nodes: Map<string, GraphNode>; edges: GraphEdge[] };

export function externalEdges(input: {
  spec: CompiledSpec;
  ids: AssetIds;
  /** References of all DAGs. */
  references: readonly DagReference[];
  /** The node that follows external nodes. Undefined in a DAG without tasks. */
  firstNode: string | undefined;
}): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const { spec, ids, references, firstNode } = input;
  const drawing: Drawing = { nodes: new Map(), edges: [] };
  drawSchedule(drawing, conditionOf(spec.schedule), { ids, firstNode });
  for (const asset of spec.assets.assets) {
    const id = `asset:${ids.get(asset) ?? asset.name}`;
    if (asset.outlet_of.length > 0) drawing.nodes.set(id, graphNode({ id, label: asset.name, type: 'asset' }));
    for (const task of asset.outlet_of) drawing.edges.push(graphEdge({ source_id: task, target_id: id }));
  }
  for (const { name, outlet_of: writers } of spec.assets.aliases) {
    const id = `asset-alias:${name}`;
    if (writers.length > 0) drawing.nodes.set(id, graphNode({ id, label: name, type: 'asset-alias' }));
    for (const task of writers) drawing.edges.push(graphEdge({ source_id: task, target_id: id }));
  }
  for (const reference of references) drawReference(drawing, reference, spec.dag.dag_id, firstNode);
  return { nodes: [...drawing.nodes.values()], edges: drawing.edges };
}

function drawReference(drawing: Drawing, reference: DagReference, dagId: string, firstNode: string | undefined): void {
  const { taskId, kind, other } = reference;
  const id = referenceNode(reference);
  const isOurs = reference.dagId === dagId;
  // A sensor in another DAG that waits for this DAG is not part of this graph and starts nothing here.
  if (!isOurs && (other !== dagId || kind === 'sensor' || firstNode === undefined)) return;
  drawing.nodes.set(id, graphNode({ id, label: taskId, type: kind }));
  if (!isOurs) drawing.edges.push(graphEdge({ source_id: id, target_id: firstNode ?? '' }));
  else if (kind === 'sensor') drawing.edges.push(graphEdge({ source_id: id, target_id: taskId }));
  else drawing.edges.push(graphEdge({ source_id: taskId, target_id: id }));
}

type Target = { ids: AssetIds; firstNode: string | undefined };

function drawSchedule(drawing: Drawing, condition: AssetCondition | null, { ids, firstNode }: Target): void {
  if (condition === null || firstNode === undefined) return;
  let gates = 0;
  const draw = (part: AssetCondition, target: string): void => {
    const isSource = target === firstNode;
    if (!('objects' in part)) {
      const { id, label, type } = leafOf(part, ids);
      drawing.nodes.set(id, graphNode({ id, label, type }));
      drawing.edges.push(graphEdge({ source_id: id, target_id: target, is_source_asset: isSource || null }));
      return;
    }
    const gate = part.type === 'asset_all' ? 'and-gate' : 'or-gate';
    const id = `${gate}-${gates++}`;
    drawing.nodes.set(id, graphNode({ id, label: id, type: 'asset-condition', asset_condition_type: gate }));
    drawing.edges.push(graphEdge({ source_id: id, target_id: target, is_source_asset: isSource }));
    for (const object of part.objects) draw(object, id);
  };
  draw(condition, firstNode);
}

/** The id has no prefix `asset:`. Written assets have the prefix, read ones do not, and the UI relies on this. */
function leafOf(part: Exclude<AssetCondition, { objects: unknown }>, ids: AssetIds) {
  switch (part.type) {
    case 'asset':
      return { id: String(ids.get(part) ?? part.name), label: part.name, type: 'asset' };
    case 'asset_alias':
      return { id: part.name, label: part.name, type: 'asset-alias' };
    case 'asset_name_ref':
      return { id: part.name, label: part.name, type: 'asset-name-ref' };
    case 'asset_uri_ref':
      return { id: part.uri, label: part.uri, type: 'asset-uri-ref' };
  }
}

/** Returns references of tasks to other DAGs: sensors wait for them, triggers start them. */
export function dagReferences(spec: CompiledSpec): DagReference[] {
  return spec.tasks.flatMap((task): DagReference[] => {
    const value = (name: string): unknown => task.arguments[name] ?? task.templates[name];
    const named = { dagId: spec.dag.dag_id, taskId: task.task_id };
    const trigger = value('trigger_dag_id');
    if (typeof trigger === 'string') return [{ ...named, other: trigger, kind: 'trigger' }];
    const external = value('external_dag_id');
    if (typeof external !== 'string') return [];
    return [{ ...named, other: external, kind: task.operator.is_sensor ? 'sensor' : 'trigger' }];
  });
}
