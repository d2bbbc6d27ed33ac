import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import type { TenantDb } from '../../db/database.ts';
import { createDiskLogStore } from '../../logs/disk-store.ts';
import { logKeySegments } from '../../logs/log-key.ts';
import type { LogKey } from '../../logs/log-key.ts';
import type { LogStore } from '../../logs/store.ts';
import { insertDag, insertInstance, insertRun } from '@svc/testing/engine/run-rows.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

const RUN_ID = 'manual__2026-01-02T10:00:00+00:00';
const NDJSON = { accept: 'application/x-ndjson' };
const JSON_FORM = { accept: 'application/json' };

let server: TestServer;
let token: string;
let tenantId: string;
let db: TenantDb;
let run: number;
/** Writes where the server reads, as another process would. */
let logs: LogStore;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login();
  ({ id: tenantId } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow());
  db = server.db.tenant(tenantId);
  logs = createDiskLogStore({ dir: server.config.logs.dir });
  await insertDag(db, { dagId: 'etl' });
  run = await insertRun(db, { dagId: 'etl', runId: RUN_ID });
});
afterAll(async () => {
  await logs?.close();
  await server?.close();
});

type Instance = Parameters<typeof insertInstance>[1]['instance'];
let tasks = 0;
/** An instance of its own for a test, finished unless it says otherwise. */
async function task(instance: Partial<Instance> = {}): Promise<LogKey> {
  const taskId = `task_${(tasks += 1)}`;
  await insertInstance(db, { run, dagId: 'etl', instance: { ...instance, task_id: taskId } });
  return { tenantId, dagId: 'etl', runId: RUN_ID, taskId, mapIndex: instance.map_index ?? -1, tryNumber: 1 };
}

const jsonLine = (event: string, more: object = {}) =>
  `${JSON.stringify({ timestamp: '2026-11-15T06:31:12.123456Z', level: 'info', logger: 'task', event, ...more })}\n`;
const write = async (logKey: LogKey, text: string): Promise<void> =>
  void (await logs.append(logKey, await logs.size(logKey), Buffer.from(text)));
const pathOf = (logKey: LogKey, query: Record<string, string | number> = {}) => {
  const { dagId, runId, taskId, mapIndex, tryNumber } = logKey;
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...(mapIndex !== -1 && { map_index: mapIndex }), ...query }))
    parameters.set(key, String(value));
  return `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/logs/${tryNumber}?${parameters}`;
};
const get = (logKey: LogKey, query: Record<string, string | number> = {}, headers: Record<string, string> = {}) =>
  server.call(pathOf(logKey, query), { token, headers });
const setState = (logKey: LogKey, state: 'running' | 'success') =>
  db.updateTable('task_instances').set({ state }).where('task_id', '=', logKey.taskId).execute();
type LogContent = { content: { event: string; line_number?: number }[]; continuation_token: string | null };
const events = (answer: Answer) => answer.json<LogContent>().content.map(({ event }) => event);
const problemOf = ({ status, json }: Answer) => [status, json<{ detail: string }>().detail];

describe('a log', () => {
  it('is text for people by default', async () => {
    const logKey = await task();
    await write(logKey, jsonLine('hello') + jsonLine('boom\n  at x', { level: 'error' }) + 'no record\n');
    const answer = await get(logKey);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.text).toBe(
      '[2026-11-15T06:31:12.123456Z] INFO - hello\n[2026-11-15T06:31:12.123456Z] ERROR - boom\n  at x\nno record\n',
    );
    expect(answer.headers.get('airflow-continuation-token')).toBeNull();
  });

  it('is Airflow’s JSON, or NDJSON, for those who ask for it', async () => {
    const logKey = await task();
    await write(logKey, `${jsonLine('one')}{"event":"two","logger":null}\n`);
    const json = await get(logKey, {}, JSON_FORM);
    expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json.json()).toEqual({
      content: [
        { timestamp: '2026-11-15T06:31:12.123456Z', level: 'info', logger: 'task', event: 'one' },
        { event: 'two' },
      ],
      continuation_token: null,
    });
    const ndjson = await get(logKey, {}, NDJSON);
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson');
    expect(ndjson.text).toBe(`${jsonLine('one')}{"event":"two"}\n`);
  });

  it('is empty, not missing, when the try has written nothing yet', async () => {
    const logKey = await task({ state: 'queued' });
    expect(await get(logKey)).toMatchObject({ status: 200, text: '' });
    expect(await get(logKey, {}, NDJSON)).toMatchObject({ status: 200, text: '' });
    const json = (await get(logKey, {}, JSON_FORM)).json<LogContent>();
    expect(json).toEqual({ content: [], continuation_token: expect.any(String) as string });
  });

  it('does not exist for a try, an instance, a task, a run or a DAG that does not', async () => {
    const logKey = await task({ try_number: 2, history: [{}] });
    expect((await get({ ...logKey, tryNumber: 1 })).status).toBe(200);
    expect((await get({ ...logKey, tryNumber: 2 })).status).toBe(200);
    const missing = [
      { tryNumber: 3 },
      { mapIndex: 0 },
      { taskId: 'x' },
      { runId: 'x' },
      { dagId: 'x' },
      { taskId: '~' },
    ];
    for (const other of missing) {
      const [status, detail] = problemOf(await get({ ...logKey, ...other }));
      expect([other, status, detail]).toEqual([
        other,
        404,
        expect.stringContaining('TaskInstance not found') as string,
      ]);
    }
  });

  it('is still there for instances of which only the history is left', async () => {
    const logKey = await task({ history: [{ try_number: 4 }], try_number: 5 });
    await db.deleteFrom('task_instances').where('task_id', '=', logKey.taskId).execute();
    await write({ ...logKey, tryNumber: 4 }, jsonLine('of old'));
    expect(await get({ ...logKey, tryNumber: 4 })).toMatchObject({ status: 200 });
    expect((await get({ ...logKey, tryNumber: 5 })).status).toBe(404);
  });

  it('of a mapped instance is its own', async () => {
    const one = await task({ map_index: 0 });
    await insertInstance(db, { run, dagId: 'etl', instance: { task_id: one.taskId, map_index: 1 } });
    await write(one, jsonLine('zero'));
    await write({ ...one, mapIndex: 1 }, jsonLine('one'));
    expect((await get({ ...one, mapIndex: 1 })).text).toContain('one');
    expect((await get(one)).text).toContain('zero');
    expect((await get({ ...one, mapIndex: -1 })).status).toBe(404);
  });

  it('of one tenant is not shown to another that has the same ids', async () => {
    const logKey = await task();
    await write(logKey, jsonLine('ours'));
    await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'other' });
    const theirs = await server.login(ADMIN_EMAIL, 'other');
    expect((await server.call(pathOf(logKey), { token: theirs })).status).toBe(404);
    const { id } = await server.db.shared
      .selectFrom('tenants')
      .select('id')
      .where('name', '=', 'other')
      .executeTakeFirstOrThrow();
    const otherDb = server.db.tenant(id);
    await insertDag(otherDb, { dagId: 'etl' });
    await insertRun(otherDb, { dagId: 'etl', runId: RUN_ID, instances: [{ task_id: logKey.taskId }] });
    expect(await server.call(pathOf(logKey), { token: theirs })).toMatchObject({ status: 200, text: '' });
    await write({ ...logKey, tenantId: id }, jsonLine('theirs'));
    expect((await server.call(pathOf(logKey), { token: theirs })).text).toContain('theirs');
    expect((await get(logKey)).text).not.toContain('theirs');
  });

  it('has a try 0 for the web UI only, which says why there is nothing', async () => {
    const skipped = await task({ state: 'skipped', try_number: 0 });
    const zero = { ...skipped, tryNumber: 0 };
    const answer = await get(zero, {}, NDJSON);
    expect(answer.status).toBe(200);
    expect(
      answer.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { event: expect.stringContaining('::group::') as string },
      { event: '::endgroup::' },
      { event: 'Task was skipped — no logs available.' },
    ]);
    expect(problemOf(await get(zero))).toEqual([400, 'try_number must be >= 1, got 0']);
    expect((await get({ ...zero, taskId: 'never' }, {}, NDJSON)).status).toBe(404);
  });

  it('is read whole for nobody who only asks for the head of it', async () => {
    const logKey = await task();
    await write(logKey, jsonLine('hello'));
    const answer = await server.call(pathOf(logKey), { method: 'HEAD', token });
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      200,
      '',
      'text/plain; charset=utf-8',
    ]);
  });

  it('has no address elsewhere: 400, as in Airflow, and the web UI knows', async () => {
    const logKey = await task();
    const path = pathOf(logKey).replace('/logs/', '/externalLogUrl/');
    expect(problemOf(await server.call(path, { token }))).toEqual([
      400,
      expect.stringContaining('kept here only') as string,
    ]);
    expect((await server.call('/ui/config', { token })).json()).toMatchObject({
      show_external_log_redirect: false,
      external_log_name: null,
    });
  });

  it('that cannot be read is the operator’s business: 503 without a path, and the path in the log of the server', async () => {
    const logKey = await task();
    const file = join(server.config.logs.dir, ...logKeySegments(logKey, { caseSensitive: true }));
    await mkdir(dirname(file), { recursive: true });
    await symlink(import.meta.filename, file); // which is never followed
    const answer = await get(logKey, { search: 'x' });
    expect(problemOf(answer)).toEqual([503, expect.not.stringContaining('/tmp') as string]);
    expect(server.logLines.join('')).toContain('symbolic link');
  });
});

describe('the last lines of a log', () => {
  it('are as many as were asked for, in every form, without what came before', async () => {
    const logKey = await task();
    await write(logKey, Array.from({ length: 5_000 }, (_, index) => jsonLine(`line ${index}`)).join(''));
    expect(
      (await get(logKey, { tail_lines: 2 })).text
        .trim()
        .split('\n')
        .map((line) => line.slice(-9)),
    ).toEqual(['line 4998', 'line 4999']);
    expect(events(await get(logKey, { tail_lines: 3 }, JSON_FORM))).toEqual(['line 4997', 'line 4998', 'line 4999']);
    expect((await get(logKey, { tail_lines: 1 }, NDJSON)).text).toBe(jsonLine('line 4999'));
    expect(events(await get(logKey, { tail_lines: 10_000 }, JSON_FORM))).toHaveLength(5_000);
  });

  it('of text are lines, not messages', async () => {
    const logKey = await task();
    await write(logKey, jsonLine('first') + jsonLine('a\nb\nc\nd'));
    expect((await get(logKey, { tail_lines: 3 })).text).toBe('b\nc\nd\n');
  });

  it.each([0, -1, 10_001, 'x'])('cannot be %s', async (lines) => {
    expect((await get(await task(), { tail_lines: lines })).status).toBe(400);
  });
});

describe('a search in a log', () => {
  it('finds text in any letter case, with the line numbers of the text form', async () => {
    const logKey = await task();
    await write(logKey, jsonLine('one') + jsonLine('two\nNEEDLE here') + jsonLine('needle again', { level: 'error' }));
    const text = await get(logKey, { search: 'Needle' });
    expect(text.text).toBe('3:NEEDLE here\n4:[2026-11-15T06:31:12.123456Z] ERROR - needle again\n');
    expect(text.headers.get('x-log-search-complete')).toBe('true');
    const json = await get(logKey, { search: 'needle', max_matches: 1 }, JSON_FORM);
    expect(json.json()).toEqual({
      content: [
        {
          timestamp: '2026-11-15T06:31:12.123456Z',
          level: 'info',
          logger: 'task',
          event: 'NEEDLE here',
          line_number: 3,
        },
      ],
      continuation_token: null,
      search_complete: false,
    });
    expect(json.headers.get('x-log-search-complete')).toBe('false');
    expect((await get(logKey, { search: 'nowhere' }, NDJSON)).text).toBe('');
  });

  it('is not combined with what makes no sense beside it', async () => {
    const logKey = await task();
    for (const query of [
      { search: 'x', tail_lines: 1 },
      { search: 'x', token: 'y' },
      { tail_lines: 1, token: 'y' },
      { search: 'x', follow: 'true' },
    ])
      expect([query, (await get(logKey, query)).status]).toEqual([query, 400]);
    expect((await get(logKey, { follow: 'true' }, JSON_FORM)).status).toBe(400);
    expect((await get(logKey, { search: '' })).status).toBe(200);
  });
});

describe('the continuation token of a log', () => {
  it('goes on where the last answer ended, until the attempt is over', async () => {
    const logKey = await task({ state: 'running' });
    await write(logKey, `${jsonLine('one')}{"event":"half`);
    const first = await get(logKey, {}, JSON_FORM);
    expect(events(first)).toEqual(['one']);
    const { continuation_token: next } = first.json<LogContent>();
    expect(first.headers.get('airflow-continuation-token')).toBe(next);
    await write(logKey, ' a line"}\n');
    const second = await get(logKey, { token: next ?? '' }, JSON_FORM);
    expect(events(second)).toEqual(['half a line']);
    await setState(logKey, 'success');
    const last = await get(logKey, { token: second.json<LogContent>().continuation_token ?? '' }, JSON_FORM);
    expect(last.json()).toEqual({ content: [], continuation_token: null });
  });

  it('is refused when it is none, or of another log', async () => {
    const [logKey, other] = [await task({ state: 'running' }), await task({ state: 'running' })];
    const ours = (await get(logKey, {}, JSON_FORM)).json<LogContent>().continuation_token ?? '';
    expect((await get(logKey, { token: ours })).status).toBe(200);
    for (const wrong of ['x', '0', '0.0', ours.replace(/^\d+/, '7'), '9'.repeat(90)])
      expect(problemOf(await get(logKey, { token: wrong }))).toEqual([400, expect.stringContaining('token') as string]);
    expect((await get(other, { token: ours })).status).toBe(400);
  });
});

/** A response whose body has not come yet. */
function open(path: string, headers: Record<string, string> = {}, bearer = token): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      `${server.url}${path}`,
      { headers: { authorization: `Bearer ${bearer}`, ...headers } },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

describe('following a log', () => {
  async function collecting(response: IncomingMessage): Promise<{ text: string; ended: Promise<void> }> {
    const seen = { text: '', ended: Promise.resolve() };
    response.setEncoding('utf8').on('data', (part: string) => (seen.text += part));
    seen.ended = new Promise((resolve, reject) => {
      response.on('end', () => resolve());
      response.on('error', reject);
    });
    return seen;
  }

  it.each([
    ['NDJSON', NDJSON],
    ['text, also to clients that take it compressed', { accept: 'text/plain', 'accept-encoding': 'gzip' }],
  ])('sends %s line by line as it is written, and ends with the attempt', async (_form, headers) => {
    const logKey = await task({ state: 'running' });
    await write(logKey, jsonLine('before'));
    const response = await open(pathOf(logKey, { follow: 'true' }), headers);
    expect(response.headers['content-encoding']).toBeUndefined();
    const seen = await collecting(response);
    await eventually(() => seen.text.includes('before'));
    for (let index = 0; index < 5; index += 1) {
      await write(logKey, jsonLine(`line ${index}`));
      await eventually(() => seen.text.includes(`line ${index}`));
    }
    await write(logKey, jsonLine('the last words'));
    await setState(logKey, 'success');
    await seen.ended;
    expect(seen.text.split('\n').filter((line) => line !== '')).toHaveLength(7);
    expect(seen.text).toContain('the last words');
  });

  it('begins with the last lines when asked to', async () => {
    const logKey = await task({ state: 'running' });
    await write(logKey, jsonLine('one') + jsonLine('two') + jsonLine('three'));
    const seen = await collecting(await open(pathOf(logKey, { follow: 'true', tail_lines: 1 })));
    await eventually(() => seen.text.includes('three'));
    await write(logKey, jsonLine('four'));
    await eventually(() => seen.text.includes('four'));
    await setState(logKey, 'success');
    await seen.ended;
    expect(seen.text).not.toContain('two');
  });

  it('ends at once when the attempt is over already, and without follow also while it runs', async () => {
    const logKey = await task({ state: 'running' });
    await write(logKey, jsonLine('so far'));
    expect((await get(logKey, {}, NDJSON)).text).toBe(jsonLine('so far')); // the web UI waits for the end of the body
    await setState(logKey, 'success');
    expect((await get(logKey, { follow: 'true' }, NDJSON)).text).toBe(jsonLine('so far'));
  });

  it('ends when the user logs out', async () => {
    const logKey = await task({ state: 'running' });
    const bearer = await server.login();
    const seen = await collecting(await open(pathOf(logKey, { follow: 'true' }), NDJSON, bearer));
    await server.call('/api/v2/auth/logout', { token: bearer });
    await seen.ended;
  });

  it('ends when the server stops, long before the attempt does', async () => {
    const short = await startTestServer({ 'database.url': server.config.database.url });
    const logKey = await task({ state: 'running' });
    const bearer = await short.login();
    const answer = await fetch(`${short.url}${pathOf(logKey, { follow: 'true' })}`, {
      headers: { authorization: `Bearer ${bearer}`, accept: 'application/x-ndjson' },
    });
    await short.close();
    expect(await answer.text()).toBe('');
  });
});
