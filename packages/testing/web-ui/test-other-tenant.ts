/**
 * Tests of a second tenant with equal names for everything, as the web UI of the first one sees it. A browser of the first
 * tenant has opened the pages before: nothing that it received has a canary of the second one. The second one then makes the
 * same calls, and receives only its own objects. tenants.nightly.test.ts does both in two browsers at the same time.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pythonEnvironment } from '../python-environment.ts';
import { apiCaller, tokenOf } from '../server/api-caller.ts';
import type { Api } from '../server/api-caller.ts';
import { findCanaries, plantPlain } from '../server/canaries.ts';
import { ADMIN, EVENTUALLY, runEnds } from './lite-instance.ts';
import type { LiteInstance } from './lite-instance.ts';
import { eventually } from '../eventually.ts';
import { addTenant } from './second-tenant.ts';

/** Calls whose answers for the second tenant must have its own canary: a search that finds nothing anywhere would prove nothing. */
const TELLING = [
  '/ui/dags?',
  '/api/v2/dagSources/hello',
  '/api/v2/dags/hello/details',
  '/taskInstances/shout/logs/1',
  '/xcomEntries/return_value',
  '/dags/~/dagRuns?cursor',
  '/api/v2/importErrors',
  '/api/v2/assets?',
  '/api/v2/variables?',
  '/api/v2/connections?',
  '/api/v2/pools?',
];

const THEIRS = plantPlain('second tenant');
/** Text of the first tenant, in objects of the same names. */
export const OURS = plantPlain('first tenant');

const HELLO = `
from airflow.sdk import DAG, Asset, task

with DAG("hello", schedule=None, tags=["${THEIRS.value}"], description="${THEIRS.value}", doc_md="${THEIRS.value}"):
    @task
    def greet():
        return "${THEIRS.value}"

    @task(outlets=[Asset("bread", uri="x://${THEIRS.value}", group="${THEIRS.value}")])
    def shout(text):
        print(text)
        return text

    shout(greet())
`;

export type SecondTenant = {
  /** Remembers what the page receives from now on. */
  listenTo(page: Page): void;
  received: { url: string; text: Promise<string> }[];
  token: string;
};

/** Makes it, with one of everything. Its run has the id of the first tenant's run. */
export async function plantSecondTenant(lite: LiteInstance, runId: string): Promise<SecondTenant> {
  const other = { tenant: 'other', email: ADMIN, password: 'other than ours' };
  await addTenant(lite, other);
  const token = await tokenOf(lite.url, { username: ADMIN, password: other.password, tenant: other.tenant });
  const api = apiCaller(lite, token);
  await register(lite, api);
  const { value } = THEIRS;
  await api('POST', '/variables', { key: 'greeting', value });
  await api('POST', '/connections', { connection_id: 'warehouse', conn_type: 'http', host: value });
  await api('POST', '/pools', { name: 'clerks', slots: 3, description: value });
  await api('POST', '/importErrors', { filename: 'broken/dag.py', bundle_name: 'dags', stack_trace: value });
  await api('PATCH', '/dags/hello', { is_paused: false });
  await api('POST', '/dags/hello/dagRuns', { dag_run_id: runId, note: value });
  await runEnds(api, 'hello', runId);
  await api('POST', '/dags/hello/favorite');
  const received: SecondTenant['received'] = [];
  return {
    token,
    received,
    listenTo(page) {
      page.on('response', (response) => {
        if (response.request().method() !== 'GET' || !/^\/(api|ui)\//.test(new URL(response.url()).pathname)) return;
        const text = response.text().catch(() => ''); // a redirect, or the page was left before it came
        received.push({ url: response.url(), text });
      });
    },
  };
}

/** Compiles the DAG as `svc deploy` does it, for the tenant whose workspace is not that of lite. */
async function register(lite: LiteInstance, api: Api): Promise<void> {
  const workspace = join(lite.directory, 'theirs');
  mkdirSync(join(workspace, 'hello'), { recursive: true });
  writeFileSync(join(workspace, 'hello', 'dag.py'), HELLO);
  const compiler = createCompiler({ python: await pythonEnvironment() });
  const [unit] = await compileWorkspace({ workspace, compiler });
  await compiler.close();
  if (!unit?.ok) throw new Error('the DAG does not compile');
  for (const { dagId, spec } of unit.artifacts) {
    await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(unit.unit.root, unit.source) });
  }
}

/** Comes after the tests that have opened the pages. */
export function testOtherTenant(given: () => SecondTenant): void {
  it('a browser has received nothing of another tenant with equal names', { timeout: EVENTUALLY.timeout }, async () => {
    const leaks: string[] = [];
    let own = 0;
    for (const { url, text } of given().received) {
      const body = await text;
      for (const found of findCanaries(`${url} ${body}`, [THEIRS])) leaks.push(`${url}: ${found}`);
      if (body.includes(OURS.value)) own += 1;
    }
    expect(leaks).toEqual([]);
    expect(own).toBeGreaterThan(2);
  });

  it('the calls of a browser give another tenant only its own objects', { timeout: EVENTUALLY.timeout }, async () => {
    const { received, token } = given();
    const urls = [...new Set(received.map(({ url }) => url))];
    const leaks: string[] = [];
    const own: string[] = [];
    for (const url of urls) {
      const text = await asked(url, token);
      for (const found of findCanaries(text, [OURS])) leaks.push(`${url}: ${found}`);
      if (text.includes(THEIRS.value)) own.push(url);
    }
    expect(leaks).toEqual([]);
    expect(TELLING.filter((call) => !own.some((url) => url.includes(call)))).toEqual([]);
  });
}

/** Gives the whole answer, or the first part of a stream, which may never end. A log is no stream for a caller of JSON. */
async function asked(url: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, accept: url.includes('/logs/') ? 'application/json' : '*/*' };
  const response = await eventually(async () => {
    const answer = await fetch(url, { headers });
    return answer.status !== 503 && answer; // it is busy
  });
  expect([200, 404], url).toContain(response.status);
  if (!response.headers.get('content-type')?.startsWith('application/x-ndjson')) return response.text();
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value ?? []).toString();
}
