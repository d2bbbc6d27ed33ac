/** Nodes and edges of graphs in the form of the web UI. */
export type GraphNode = {
  id: string;
  label: string;
  type: string;
  team: null;
  operator: string | null;
  tooltip: string | null;
  is_mapped: boolean | null;
  setup_teardown_type: 'setup' | 'teardown' | null;
  asset_condition_type: 'or-gate' | 'and-gate' | null;
  /** Null for all nodes except groups. */
  children: GraphNode[] | null;
};
export type GraphEdge = {
  source_id: string;
  target_id: string;
  label: string | null;
  is_setup_teardown: boolean | null;
  is_source_asset: boolean | null;
};

type Named<Whole, Key extends keyof Whole> = Pick<Whole, Key> & Partial<Whole>;

/** Returns a node with all fields; missing ones are null. */
export const graphNode = (given: Named<GraphNode, 'id' | 'label' | 'type'>): GraphNode => ({
  team: null,
  operator: null,
  tooltip: null,
  is_mapped: null,
  setup_teardown_type: null,
  asset_condition_type: null,
  children: null,
  ...given,
});
export const graphEdge = (given: Named<GraphEdge, 'source_id' | 'target_id'>): GraphEdge => ({
  label: null,
  is_setup_teardown: null,
  is_source_asset: null,
  ...given,
});
