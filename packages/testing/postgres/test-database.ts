import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { postgresUrl } from './postgres-url.ts';

/** Migrated once per run; every test file clones it. */
export const TEMPLATE_DATABASE = 'svc_template';

/** A fresh, migrated database, cloned from the run's template; `drop` it in afterAll. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Files as they are: through the log, as is usual, it takes three times as much CPU (180 and 35 ms first, then 35 and 18).
  await asSuperuser(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  return { url: url.toString(), drop: () => asSuperuser(`drop database if exists ${name} with (force)`) };
}

async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
