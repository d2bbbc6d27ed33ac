import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE } from './postgres-for-all-tests.ts';

/** A fresh, migrated database, cloned from the run's template; `drop` it in afterAll. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asSuperuser(`create database ${name} template ${TEMPLATE_DATABASE}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  return { url: url.toString(), drop: () => asSuperuser(`drop database if exists ${name} with (force)`) };
}

async function asSuperuser(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
