import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../client/client.ts';
import type { CliContext } from '../context.ts';
import { openValues } from './values.ts';

const context = {} as CliContext; // only read for standard input
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-values-'));
  writeFileSync(join(folder, '.env'), 'AIRFLOW_VAR_WHEN=@hourly\nAIRFLOW_CONN_WH=postgres://u:p@h/db\nOTHER=1\n');
  writeFileSync(
    join(folder, 'variables.json'),
    '{"tables": ["a", "b"], "when": "@daily", "api_token": "a-token-of-a-file"}',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const variable = (name: string) => ({ kind: 'variable', name, isDeclared: true }) as const;

it('a DAG file that is compiled without a control plane reads what the files of --values have, and says what they lack', async () => {
  const answer = await openValues(context, { path: folder });
  expect(await answer?.(variable('tables'))).toMatchObject({ text: '["a","b"]', fingerprint: undefined });
  expect(await answer?.(variable('when'))).toMatchObject({ text: '@hourly' });
  expect(await answer?.(variable('api_token'))).toMatchObject({ masks: ['a-token-of-a-file'] });
  const found = await answer?.({ kind: 'connection', name: 'wh', isDeclared: true });
  expect(JSON.parse(found && 'text' in found ? (found.text ?? '') : '')).toMatchObject({ host: 'h', password: 'p' });
  expect(found).toMatchObject({ masks: ['p'] });
  expect(await answer?.(variable('none'))).toMatchObject({ text: null, note: `the variable none is not in ${folder}` });
  expect(await openValues(context, {})).toBeUndefined();
});

it('files of --values come before the control plane, which answers the rest', async () => {
  const asked: unknown[] = [];
  const post = (_path: string, { body }: { body: object }) => {
    asked.push(body);
    return Promise.resolve({ text: 'there', fingerprint: 'f', masks: [], note: null });
  };
  const answer = await openValues(context, { path: folder, client: { post } as unknown as Client });
  expect(await answer?.(variable('when'))).toMatchObject({ text: '@hourly' });
  expect(await answer?.(variable('x'))).toEqual({ text: 'there', fingerprint: 'f', masks: [], note: undefined });
  expect(asked).toEqual([{ kind: 'variable', name: 'x', is_declared: true }]);
});
