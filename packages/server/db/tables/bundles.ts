/** Bundles and their deployments. */
import type { ColumnType, Generated } from 'kysely';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import type { GivenJson, NullableTimestamp, TenantId, Timestamp } from './columns.ts';

export type BundleKind = 'git' | 'folder';
export type OnError = 'refuse' | 'partial';
export type SyncState = 'waiting' | 'running' | 'done' | 'refused' | 'failed';

/** Why a file of a commit does not compile. */
export type BundleProblem = { file: string; line: number | null; message: string };

/** A DAG of a deployment. */
export type DeployedDag = {
  version: number;
  /** The path of its file in the bundle. */
  file: string;
  /** The path of its file below the folder that its tasks import from. */
  source: string;
  warnings?: string[];
  differences?: string[];
  /** Hashes of contents that a rollback of this DAG has undone. A commit that still has one of them does not bring it back. */
  undone?: string[];
};

export type DagChange = {
  change: 'added' | 'changed' | 'removed';
  before: number | null;
  after: number | null;
};

/** `dag_rollback`: one DAG went back to an older version. The commit stays that of the deployment that it repeats. */
export type DeploymentKind = 'sync' | 'rollback' | 'dag_rollback';

export type BundlesTable = {
  tenant_id: TenantId;
  name: string;
  kind: BundleKind;
  url: string;
  ref: Generated<string>;
  folder: Generated<string>;
  conn_id: string | null;
  on_error: OnError;
  adopts: boolean;
  poll_seconds: number;
  commit_url: string | null;
  webhook_conn_id: string | null;
  created_at: Timestamp;
  created_by: string;
  current_deployment: number | null;
  seen_version: string | null;
  sync_state: Generated<SyncState>;
  sync_text: Generated<string>;
  asked: Generated<number>;
  answered: Generated<number>;
  asked_by: string | null;
  problems: GivenJson<BundleProblem[] | null> | null;
  problem_version: string | null;
  checked_at: NullableTimestamp;
  next_check_at: Timestamp;
  failures: Generated<number>;
  lease_holder: string | null;
  lease_until: NullableTimestamp;
};

export type DeploymentsTable = {
  tenant_id: TenantId;
  bundle_name: string;
  number: number;
  kind: DeploymentKind;
  repeats: number | null;
  version: string;
  author: Generated<string>;
  message: Generated<string>;
  committed_at: NullableTimestamp;
  url: string | null;
  root: string;
  /** The hash of its tree. Null: a deployment of an earlier release. */
  tree: string | null;
  dags: GivenJson<Record<string, DeployedDag>>;
  changes: GivenJson<Record<string, DagChange>>;
  /** How many DAGs that are. */
  changed: number;
  problems: GivenJson<BundleProblem[] | null> | null;
  created_by: string;
  created_at: Timestamp;
};

export type WebhookDeliveriesTable = {
  tenant_id: TenantId;
  bundle_name: string;
  delivery: string;
  at: Timestamp;
};

export type ArchiveTreesTable = {
  tenant_id: TenantId;
  hash: string;
  manifest: ColumnType<TreeEntry[], string, never>;
  stored_at: Timestamp;
};

export type ArchiveFilesTable = { tenant_id: TenantId; hash: string; stored_at: Timestamp };

export type ArchivePartsTable = { tenant_id: TenantId; hash: string; part: number; data: Buffer; stored_at: Timestamp };
