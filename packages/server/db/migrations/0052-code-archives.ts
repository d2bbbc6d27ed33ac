import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * The files of deployments, stored by their content. A tree is the list of files of one commit; a file is stored once
 * for all trees of a tenant, in compressed parts. A run keeps the tree with which it was created.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table archive_trees (
      tenant_id uuid not null references tenants on delete cascade,
      -- SHA-256 of the manifest.
      hash text not null,
      -- A JSON list of files and links, as packages/proto/code-archive.ts describes it.
      manifest json not null,
      stored_at timestamptz not null default now(),
      primary key (tenant_id, hash)
    )`,
    `create table archive_files (
      tenant_id uuid not null references tenants on delete cascade,
      -- SHA-256 of its content. A file has a row when all its parts are stored.
      hash text not null,
      stored_at timestamptz not null default now(),
      primary key (tenant_id, hash)
    )`,
    `create table archive_parts (
      tenant_id uuid not null references tenants on delete cascade,
      hash text not null,
      part integer not null check (part >= 0),
      -- Compressed already.
      data bytea not null,
      stored_at timestamptz not null default now(),
      primary key (tenant_id, hash, part)
    )`,
    `alter table archive_parts alter column data set storage external`,
    // The hash of a tree. Null: a deployment of an earlier release.
    `alter table deployments add column tree text`,
    // "<hash of the tree>/<folder in it that tasks import from>". Null: a DAG of no bundle.
    `alter table dags add column tree text`,
    `alter table dag_runs add column tree text`,
    `create index dag_runs_by_tree on dag_runs (tenant_id, left(tree, 64)) where tree is not null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
