import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { ACTIVE_STATES, OPEN_RUN_STATES } from '@svc/spec/states.ts';

let database: OpenTestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.close());

test.each([
  ['task_instances_active', ACTIVE_STATES],
  ['dag_runs_live', OPEN_RUN_STATES],
] as const)(
  'the index %s has the states of its set, or its conditions would read whole tables',
  async (index, states) => {
    const { rows } = await sql<{ condition: string }>`
    select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = ${index}::regclass`.execute(
      database.db.shared,
    );
    const inIndex = [...(rows[0]?.condition ?? '').matchAll(/'(\w+)'/g)].map(([, state]) => state);
    expect(inIndex).toEqual([...states]);
  },
);
