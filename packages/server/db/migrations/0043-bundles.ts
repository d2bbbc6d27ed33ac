import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Bundles, which are named sources of DAGs, and their deployments. A deployment is one commit that was made current. The
 * row of a bundle has its settings, the state of its last sync, and the lease of the process that syncs it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table bundles (
      tenant_id uuid not null references tenants on delete cascade,
      name text not null,
      kind text not null check (kind in ('git', 'folder')),
      -- Of git: the address of the repository. Of a folder: its path.
      url text not null,
      -- A branch or tag. Empty: the default branch.
      ref text not null default '',
      -- The DAGs are below this folder of the repository. Empty: in the repository itself.
      folder text not null default '',
      -- Its password or key opens the repository.
      conn_id text,
      on_error text not null check (on_error in ('refuse', 'partial')),
      -- Takes over DAGs that "svc deploy" has registered.
      adopts boolean not null,
      -- 0: only a person or a webhook starts a sync.
      poll_seconds integer not null check (poll_seconds >= 0),
      -- Link to a commit, with {commit}. Null: the known forges.
      commit_url text,
      created_at timestamptz not null default now(),
      created_by text not null,
      current_deployment integer,
      -- The commit that was looked at last, deployed or not. A poll deploys only another one.
      seen_version text,
      sync_state text not null default 'waiting' check (sync_state in ('waiting', 'running', 'done', 'refused', 'failed')),
      -- What it is doing, or how it ended.
      sync_text text not null default '',
      -- Counts requests. A request is answered when a sync that began after it has ended.
      asked integer not null default 0,
      answered integer not null default 0,
      asked_by text,
      -- Why a commit was refused, file by file.
      problems json,
      problem_version text,
      checked_at timestamptz,
      next_check_at timestamptz not null default now(),
      failures integer not null default 0,
      lease_holder uuid,
      lease_until timestamptz,
      primary key (tenant_id, name)
    )`,
    `create index bundles_due on bundles (next_check_at)`,
    `create table deployments (
      tenant_id uuid not null,
      bundle_name text not null,
      number integer not null,
      kind text not null check (kind in ('sync', 'rollback')),
      -- Of a rollback: the deployment that it repeats.
      repeats integer,
      version text not null,
      author text not null default '',
      message text not null default '',
      committed_at timestamptz,
      url text,
      -- Where its files are on the hosts that sync.
      root text not null,
      -- By DAG id: version, file, warnings.
      dags json not null,
      -- By DAG id: what this deployment did.
      changes json not null,
      changed integer not null,
      -- With on_error partial: the files that were left out.
      problems json,
      created_by text not null,
      created_at timestamptz not null default now(),
      primary key (tenant_id, bundle_name, number),
      foreign key (tenant_id, bundle_name) references bundles (tenant_id, name) on delete cascade
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
