/** Assets, their events, and what waits for them. */
import type { Generated } from 'kysely';
import type { Json, TenantId, Timestamp } from './columns.ts';

export type AssetsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  name: string;
  uri: string;
  group_name: string;
  extra: Json<Record<string, unknown>>;
  created_at: Timestamp;
  updated_at: Timestamp;
};

/** Values that tasks keep with an asset across runs. */
export type AssetStatesTable = {
  tenant_id: TenantId;
  asset_id: number;
  key: string;
  /** JSON text. */
  value: string;
  updated_at: Timestamp;
  updated_by: 'task' | 'watcher' | 'api';
  dag_id: string | null;
  run_id: string | null;
  task_id: string | null;
  map_index: number | null;
};

export type AssetAliasesTable = { tenant_id: TenantId; id: Generated<number>; name: string; group_name: string };

export type AssetAliasAssetsTable = { tenant_id: TenantId; alias_id: number; asset_id: number };

export type AssetRole = 'schedule' | 'outlet' | 'inlet';

export type AssetReferencesTable = {
  tenant_id: TenantId;
  dag_id: string;
  role: AssetRole;
  /** Empty for the schedule, which belongs to the DAG. */
  task_id: Generated<string>;
  target: 'asset' | 'alias' | 'name' | 'uri';
  target_id: Generated<number>;
  target_text: Generated<string>;
  created_at: Timestamp;
  updated_at: Timestamp;
};

export type AssetEventsTable = {
  tenant_id: TenantId;
  id: Generated<number>;
  asset_id: number;
  extra: Json<Record<string, unknown>>;
  source_dag_id: string | null;
  source_task_id: string | null;
  source_run_id: string | null;
  source_map_index: Generated<number>;
  partition_key: string | null;
  at: Timestamp;
};

export type AssetEventAliasesTable = { tenant_id: TenantId; event_id: number; alias_id: number };

export type AssetQueueTable = {
  tenant_id: TenantId;
  /** The key of the run that waits for the event. Null: the DAG's next run. */
  partition_key: string | null;
  dag_id: string;
  event_id: number;
  asset_id: number;
  is_considered: Generated<boolean>;
  created_at: Timestamp;
};

export type DagRunAssetEventsTable = { tenant_id: TenantId; run: number; event_id: number };
