/**
 * Two people of two tenants at the same time in the web UI of one control plane, with equal names for everything: neither
 * browser ever receives a byte of the other's. Every object carries a canary, and every response is searched for it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { launchBrowser } from '@svc/testing/web-ui/browser.ts';
import { findCanaries, plantPlain } from '@svc/testing/server/canaries.ts';
import type { Canary } from '@svc/testing/server/canaries.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { ADMIN, EVENTUALLY, runToEnd, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { addTenant } from '@svc/testing/web-ui/second-tenant.ts';
import { openWatchedPage } from '@svc/testing/web-ui/watched-page.ts';
import type { WatchedPage } from '@svc/testing/web-ui/watched-page.ts';

/** A DAG in which everything that can carry text carries the canary; ids are alike in both tenants. */
const ledger = (canary: string): string => `
from airflow.sdk import DAG, Asset, task

with DAG("ledger", schedule=None, tags=["${canary}"], description="${canary}", doc_md="${canary}", params={"page": "${canary}"}):
    @task(outlets=[Asset("books", uri="x://books/${canary}", group="${canary}")], doc_md="${canary}")
    def write():
        print("${canary}")
        return "${canary}"

    write()
`;
const TIMEOUT_MS = 400_000;

type Side = {
  tab: WatchedPage;
  canary: Canary;
  api: Api;
  /** Everything the API said to the browser. */
  received: { url: string; text: Promise<string> }[];
  runId: string;
  assetId: number;
};

let lite: LiteInstance;
let browser: Browser;
let ours: Side;
let theirs: Side;

beforeAll(async () => {
  const canaries = { ours: plantPlain('tenant default'), theirs: plantPlain('tenant other') };
  lite = await startLite({ examples: [], dags: { 'ledger/dag.py': ledger(canaries.ours.value) } });
  const other = { tenant: 'other', email: ADMIN, password: 'other than ours' };
  await addTenant(lite, other);
  const theirApi = lite.apiAs(await lite.login(ADMIN, { password: other.password, tenant: other.tenant }));
  await register(theirApi, ledger(canaries.theirs.value));
  browser = await launchBrowser();
  ours = await side({ canary: canaries.ours, api: lite.api, username: ADMIN, password: lite.password });
  theirs = await side({ canary: canaries.theirs, api: theirApi, username: ADMIN, ...other });
}, TIMEOUT_MS);

afterAll(async () => {
  await browser?.close();
  await lite?.stop();
}, TIMEOUT_MS);

/** Compiled as `svc deploy` does it, for the tenant whose workspace is not that of lite. */
async function register(api: Api, text: string): Promise<void> {
  const workspace = join(lite.directory, 'theirs');
  mkdirSync(join(workspace, 'ledger'), { recursive: true });
  writeFileSync(join(workspace, 'ledger', 'dag.py'), text);
  const compiler = createCompiler({ python: await pythonEnvironment() });
  const [unit] = await compileWorkspace({ workspace, compiler });
  await compiler.close();
  if (!unit?.ok) throw new Error('the DAG does not compile');
  for (const { dagId, spec } of unit.artifacts) {
    await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(unit.unit.root, unit.source) });
  }
}

/** Signed in, with one of everything. */
async function side(input: {
  canary: Canary;
  api: Api;
  username: string;
  password: string;
  tenant?: string;
}): Promise<Side> {
  const { canary, api, ...who } = input;
  const text = canary.value;
  await api('POST', '/variables', { key: 'chapter', value: text });
  await api('POST', '/connections', { connection_id: 'archive', conn_type: 'http', host: text });
  await api('POST', '/pools', { name: 'clerks', slots: 3, description: text });
  await api('POST', '/importErrors', { filename: `${text}.py`, bundle_name: 'dags', stack_trace: text });
  const runId = await runToEnd(api, 'ledger');
  await api('PATCH', `/dags/ledger/dagRuns/${encodeURIComponent(runId)}`, { note: text });
  await api('POST', '/dags/ledger/favorite');
  const { assets } = await api<{ assets: { id: number }[] }>('GET', '/assets');
  const tab = await openWatchedPage(browser, lite.url);
  const received: Side['received'] = [];
  tab.page.on('response', (response) => {
    if (/\/(api|ui)\//.test(new URL(response.url()).pathname)) {
      const text = response.text().catch(() => ''); // a redirect, or the page was left before it came
      received.push({ url: response.url(), text });
    }
  });
  await tab.signIn(who);
  return { tab, canary, api, received, runId, assetId: assets[0]?.id ?? 0 };
}

/** Each page with a call it makes: when that is answered, the next page may come. */
const pagesOf = ({ runId, assetId }: Side): [path: string, call: string][] => [
  ['/', '/api/v2/importErrors'],
  ['/dags', '/ui/dags?'],
  ['/dags/ledger', '/ui/grid/ti_summaries/ledger'],
  ['/dags/ledger/runs', '/dags/ledger/dagRuns?cursor'],
  ['/dags/ledger/tasks', '/dags/ledger/tasks'],
  ['/dags/ledger/calendar', '/ui/calendar/ledger'],
  ['/dags/ledger/events', '/api/v2/eventLogs'],
  ['/dags/ledger/code', '/api/v2/dagSources/ledger'],
  ['/dags/ledger/details', '/dags/ledger/details'],
  [`/dags/ledger/runs/${runId}`, '/taskInstances?cursor'],
  [`/dags/ledger/runs/${runId}/tasks/write`, '/taskInstances/write/logs/1'],
  [`/dags/ledger/runs/${runId}/tasks/write/xcom`, '/xcomEntries/return_value'],
  [`/dags/ledger/runs/${runId}/tasks/write/details`, '/taskInstances/write/tries/1'],
  ['/dag_runs', '/dags/~/dagRuns?cursor'],
  ['/task_instances', '/dags/~/dagRuns/~/taskInstances?cursor'],
  ['/assets', '/api/v2/assets?'],
  [`/assets/${assetId}`, '/ui/dependencies'],
  ['/variables', '/api/v2/variables?'],
  ['/connections', '/api/v2/connections?'],
  ['/pools', '/api/v2/pools?'],
  ['/events', '/api/v2/eventLogs?limit'],
  ['/xcoms', '/taskInstances/~/xcomEntries'],
  ['/jobs', '/api/v2/jobs'],
  ['/required_actions', '/hitlDetails'],
];
/** Where a side must see its own canary: a search that finds nothing anywhere would prove nothing. */
const TELLING = [
  '/api/v2/importErrors',
  '/ui/dags?',
  '/api/v2/dagSources/ledger',
  '/dags/ledger/details',
  '/taskInstances/write/logs/1',
  '/xcomEntries/return_value',
  '/dags/~/dagRuns?cursor',
  '/api/v2/assets?',
  '/api/v2/variables?',
  '/api/v2/connections?',
  '/api/v2/pools?',
];

async function walk(one: Side): Promise<void> {
  const isAnswered = (call: string): boolean => one.received.some(({ url }) => url.includes(call));
  for (const [path, call] of pagesOf(one)) {
    await one.tab.go(path);
    await expect.poll(() => isAnswered(call), { ...EVENTUALLY, message: `${call} for ${path}` }).toBe(true);
    await one.tab.settled();
  }
  await one.tab.go('/dags/ledger', 'write');
  await one.tab.page.getByRole('button', { name: /Search Dags/ }).click();
  await one.tab.enter('led');
  await one.tab.page
    .getByRole('option', { name: /ledger/ })
    .first()
    .waitFor();
}

it(
  'two tenants with equal names never receive anything of each other',
  async () => {
    await Promise.all([walk(ours), walk(theirs)]);
    for (const [one, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const leaks: string[] = [];
      const own: string[] = [];
      for (const { url, text } of one.received) {
        const body = await text;
        for (const found of findCanaries(`${url} ${body}`, [other.canary])) leaks.push(`${url}: ${found}`);
        if (body.includes(one.canary.value)) own.push(url);
      }
      expect(leaks).toEqual([]);
      expect(TELLING.filter((call) => !own.some((url) => url.includes(call)))).toEqual([]);
      await one.tab.look(`walked-${one.canary.place.replaceAll(' ', '-')}`);
      one.tab.expectNoProblems();
    }
  },
  TIMEOUT_MS,
);

it(
  'an object of the other tenant is not there, and asking for it breaks nothing',
  async () => {
    const foreign = [
      [`/dags/ledger/runs/${theirs.runId}`, `/dags/ledger/dagRuns/${theirs.runId}`],
      [`/assets/${theirs.assetId}`, `/api/v2/assets/${theirs.assetId}`],
    ] as const;
    await ours.tab.expectingStatuses([404], async () => {
      for (const [path, call] of foreign) {
        const answer = ours.tab.page.waitForResponse((response) => response.url().endsWith(call));
        await ours.tab.visit(path);
        expect((await answer).status()).toBe(404);
      }
      await ours.tab.visit('/dags', 'ledger');
    });
    await ours.tab.go('/variables', 'chapter');
    ours.tab.expectNoProblems();
  },
  TIMEOUT_MS,
);
