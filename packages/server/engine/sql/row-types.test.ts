/**
 * A wrong row type of a statement compiles. Postgres knows the columns of a statement without executing it, so each
 * statement whose rows are declared as an object type is compared with what Postgres says.
 */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';
import { describeStatement } from '@svc/testing/postgres/describe-statement.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { statementsOf, typedStatements } from '@svc/testing/postgres/statement-types.ts';
import type { TypedStatement } from '@svc/testing/postgres/statement-types.ts';

type Described = TypedStatement & { text: string | undefined };

const FILES = globSync('packages/server/engine/sql/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
const OTHERS = globSync('packages/server/engine/{shared,plan}/*.ts', { cwd: ROOT });
/** The types of Postgres that reach the code as numbers and booleans (db/connection-pool.ts); JSON may be anything. */
const NUMBERS = new Set([20, 21, 23, 26, 700, 701]);
const BOOLEAN = 16;
const JSON_TYPES = new Set([114, 3802]);
/** The type of a function that only locks. Its column has no value. */
const VOID = 2278;

const statements: Described[] = [];
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  for (const file of FILES) {
    const texts = await statementsOf((await import(`./${basename(file)}`)) as Record<string, unknown>);
    for (const typed of typedStatements(file, [...OTHERS, ...FILES]))
      statements.push({ ...typed, text: texts.get(typed.key) });
  }
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

it('each typed statement of the engine is found, so that none escapes the comparison below', () => {
  expect(statements.filter(({ text }) => text === undefined).map(({ file, line }) => `${file}:${line}`)).toEqual([]);
  expect(statements.length).toBeGreaterThan(70);
});

it('the columns that Postgres returns are those of the row type, by name and by type', async () => {
  const wrong: string[] = [];
  for (const { file, line, columns, text = '' } of statements) {
    const place = `${basename(file)}:${line}`;
    try {
      const all = await describeStatement(client, text);
      const described = all.filter(({ dataTypeID }) => dataTypeID !== VOID);
      const names = described.map(({ name }) => name).toSorted();
      if (names.join() !== [...columns.keys()].toSorted().join()) wrong.push(`${place} returns ${names.join(', ')}`);
      for (const { name, dataTypeID } of described) {
        const kinds = columns.get(name);
        if (!kinds || JSON_TYPES.has(dataTypeID)) continue;
        const kind = NUMBERS.has(dataTypeID) ? 'number' : dataTypeID === BOOLEAN ? 'boolean' : 'string';
        if (!kinds.includes(kind)) wrong.push(`${place} ${name} is a ${kind}`);
      }
    } catch (error) {
      wrong.push(`${place} ${(error as Error).message}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('a statement that Postgres does not accept is reported and does not stop the comparison of the others', async () => {
  await expect(describeStatement(client, 'select missing from dag_runs')).rejects.toThrow(/missing/);
  expect(await describeStatement(client, 'select 1 as one, true as yes')).toMatchObject([
    { name: 'one', dataTypeID: 23 },
    { name: 'yes', dataTypeID: BOOLEAN },
  ]);
});
