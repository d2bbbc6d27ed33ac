import { createHmac } from 'node:crypto';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { logLine } from '@svc/testing/mcp/failed-runs.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { startAlerting } from '@svc/testing/alerts/alerting.ts';
import type { Alerting } from '@svc/testing/alerts/alerting.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

let world: Alerting;
beforeAll(async () => {
  world = await startAlerting();
  await world.connection('hook', { password: 'sign-me' });
});
afterAll(() => world?.close());
afterEach(async () => {
  await world.engine.scope.deleteFrom('alert_rules').execute();
  await world.sender.drain();
  world.receiver.received.length = 0;
  world.receiver.answerWith(() => ({ status: 200, body: { ok: true } }));
});

const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/dags/shop.py", line 12, in load',
  '    connect(host)',
  'ConnectionError: warehouse refused, password=hunter2',
].join('\n');
const refused = {
  state: 'failed' as const,
  failure: { cause: 'exception' as const, text: 'ConnectionError: warehouse refused, password=hunter2' },
  log: logLine(TRACEBACK, 'error'),
};
const RULE = { events: ['failed'], channel: 'webhook', connection_id: 'hook' };
const kinds = () => world.receiver.received.map(({ body }) => body['kind']);
const alerts = async () =>
  (await world.server.call('/api/v2/alerts', { token: world.token })).json<{ alerts: Record<string, unknown>[] }>()
    .alerts;

describe('a failed task', () => {
  it('is one signed message with cause, line, what is blocked, what to try and a link, and no secret', async () => {
    await world.rule('all');
    await world.register('shop', graphOf({ load: [], publish: ['load'] }));
    const { runId } = await world.run('shop', { load: refused });
    await world.sender.drain();
    expect(world.receiver.received).toHaveLength(1);
    const [message] = world.receiver.received;
    expect(message?.body).toMatchObject({
      kind: 'open',
      event: 'failed',
      cause: 'exception',
      dags: ['shop'],
      failures: 1,
    });
    expect(message?.body['title']).toMatch(/^load of shop failed: ConnectionError: warehouse refused/);
    const text = String(message?.body['text']);
    expect(text.length).toBeLessThanOrEqual(600);
    for (const fact of [
      'at shop.py:12: connect(host)',
      'blocks 1: publish',
      'try: Check that the remote system is up',
    ]) {
      expect(text).toContain(fact);
    }
    expect(message?.body['fields']).toMatchObject({ dag: 'shop', run: runId, task: 'load', try: '1', version: '1' });
    const link = `https://flows.example.com/svc/dags/shop/runs/${encodeURIComponent(runId)}/tasks/load`;
    expect(message?.body['link']).toBe(link);
    const [, at = '', signature] = /^t=(\d+),v1=(\w+)$/.exec(message?.headers['x-svc-signature'] ?? '') ?? [];
    expect(signature).toBe(createHmac('sha256', 'sign-me').update(`${at}.${message?.text}`).digest('hex'));
    expect(message?.headers['idempotency-key']).toMatch(/:open$/);
    expect(message?.text).not.toContain('hunter2');
  });

  it('that succeeds again is one message more, and 500 failures with one cause are at most two', async () => {
    await world.rule('grouped');
    const ids = Array.from({ length: 50 }, (_, n) => `t${n}`);
    const tasks = graphOf(Object.fromEntries(ids.map((id) => [id, []])));
    const dags = Array.from({ length: 10 }, (_, n) => `group_${n}`);
    const fails = (id: string) => ({
      state: 'failed' as const,
      failure: { cause: 'exception' as const, text: `ConnectionError: warehouse refused row ${id.slice(1)}` },
    });
    for (const dag of dags) {
      await world.register(dag, tasks);
      await world.run(dag, Object.fromEntries(ids.map((id) => [id, fails(id)])));
    }
    await world.sender.drain();
    for (const dag of dags) await world.register(dag, graphOf({ t0: [] }));
    for (const dag of dags.slice(1)) await world.run(dag, { t0: {} });
    await world.sender.drain();
    expect(kinds()).toEqual(['open']);
    await world.run(dags[0] ?? '', { t0: {} });
    await world.sender.drain();
    expect(kinds()).toEqual(['open', 'over']);
    const [first, last] = world.receiver.received;
    expect(first?.body['title']).toMatch(
      /^500 tasks of 10 DAGs failed since \d{4}-\d\d-\d\d \d\d:\d\d UTC: ConnectionError/,
    );
    expect(last?.body).toMatchObject({ title: expect.stringMatching(/^Over: 500 tasks of 10 DAGs failed/) as string });
    expect(last?.body['alert_id']).toBe(first?.body['alert_id']);
  });

  it('two causes are two messages, and a rule for other DAGs, tags or tasks is none', async () => {
    await world.rule('mine', { dags: ['two_*'], tasks: ['a', 'b'] });
    await world.rule('others', { dags: ['else'] });
    await world.rule('tagged', { tags: ['finance'] });
    await world.register('two_causes', graphOf({ a: [], b: [], c: [] }));
    const failing = (text: string) => ({ state: 'failed' as const, failure: { cause: 'exception' as const, text } });
    await world.run('two_causes', { a: failing('KeyError: x'), b: failing('ValueError: y'), c: failing('OSError: z') });
    await world.sender.drain();
    expect(world.receiver.received.map(({ body }) => [body['rule'], body['title']]).toSorted()).toEqual([
      ['mine', 'a of two_causes failed: KeyError: x'],
      ['mine', 'b of two_causes failed: ValueError: y'],
    ]);
  });

  it('that a person marked as failed is no alert', async () => {
    await world.rule('all');
    await world.register('marked', graphOf({ a: [] }));
    await world.run('marked', { a: { state: 'failed', failure: { cause: 'marked_failed', text: '' } } });
    await world.sender.drain();
    // The run still failed, and its only failure was chosen.
    expect(kinds()).toEqual([]);
  });
});

describe('other events', () => {
  it('a retry is told from the given try on, and a lost worker is its own event', async () => {
    await world.rule('retries', { events: ['retried'], after_tries: 2 });
    await world.rule('workers', { events: ['lost_worker'] });
    await world.register(
      'again',
      graphOf({ a: [] }, () => ({ policy: { retries: 2, retry_delay: 0 } })),
    );
    await world.run('again', {
      a: (tryNumber) => ({
        state: 'failed',
        failure: { cause: tryNumber === 3 ? 'agent_lost' : 'exception', text: `ValueError: no rows` },
      }),
    });
    await world.sender.drain();
    const told = world.receiver.received.map(({ body }) => [body['rule'], body['event'], body['cause']]);
    expect(told.toSorted()).toEqual([
      ['retries', 'retried', 'exception'],
      ['workers', 'lost_worker', 'agent_lost'],
    ]);
  });

  it('a file that does not compile is told with the end of its traceback, and when it compiles again', async () => {
    await world.rule('files', { events: ['broken_file', 'recovered'], dags: ['sales*'] });
    const report = { bundle_name: 'x', stack_trace: 'sales.py:3: NameError: name "orders" is not defined' };
    await world.post('/api/v2/importErrors', { ...report, filename: 'sales.py' });
    await world.post('/api/v2/importErrors', { ...report, filename: 'other.py' });
    await world.sender.drain();
    expect(world.receiver.received[0]?.body).toMatchObject({
      title: 'DAG file sales.py does not compile',
      text: expect.stringContaining('NameError') as string,
    });
    await world.engine.scope.deleteFrom('import_errors').execute();
    await world.sender.drain();
    expect(kinds()).toEqual(['open', 'over']);
  });
});

describe('a channel', () => {
  it('that fails is tried again under the same key, shown at its rule, and reported through another channel', async () => {
    await world.connection('broken_hook', { host: `${world.receiver.url}/broken` });
    await world.rule('failing', { connection_id: 'broken_hook', dags: ['outage'] });
    await world.rule('working', { dags: ['never'] });
    world.receiver.answerWith(({ path }) => ({ status: path === '/broken' ? 503 : 200 }));
    await world.register('outage', graphOf({ a: [] }));
    await world.run('outage', { a: refused });
    await world.sender.drain();
    const list = (await world.server.call('/api/v2/alerts/rules', { token: world.token })).json<{
      rules: Record<string, unknown>[];
    }>();
    expect(list.rules.find(({ name }) => name === 'failing')).toMatchObject({
      failing_since: expect.any(String) as string,
      last_error: 'the channel answered with status 503',
    });
    const report = world.receiver.received.find(({ path }) => path === '/');
    expect(report?.body).toMatchObject({ rule: 'working', event: 'channel_failed' });
    expect(report?.body['text']).toContain('failing (webhook): the channel answered with status 503');

    world.receiver.answerWith(() => ({ status: 200 }));
    await world.engine.scope.updateTable('alerts').set({ due_at: new Date() }).where('messages', '=', 0).execute();
    await world.sender.drain();
    const keys = world.receiver.received
      .filter(({ path }) => path === '/broken')
      .map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it('that does not answer delays the alerts of no other tenant', async () => {
    const { db } = world.server;
    await world.server.addUser({ email: 'waits@example.com', roles: ['admin'], tenant: 'waiting' });
    const other = await world.server.login('waits@example.com', 'waiting');
    const body = { connection_id: 'hook', conn_type: 'http', host: `${world.receiver.url}/waiting` };
    await world.post('/api/v2/connections', body, other);
    const theirs = await world.post('/api/v2/alerts/rules', { ...RULE, name: 'theirs' }, other);
    const [ours, waiting] = [await world.rule('hangs'), theirs].map(({ id }) => String(id));
    const [moment, later] = [new Date(Date.now() - 2_000), new Date(Date.now() - 1_000)];
    const due = { event: 'failed', dag_id: 'd', opened_at: moment, last_at: moment };
    const many = Array.from({ length: 40 }, (_, number) => ({ ...due, fingerprint: String(number), due_at: moment }));
    await world.engine.scope
      .insertInto('alerts')
      .values(many.map((one) => ({ ...one, rule_id: String(ours) })))
      .execute();
    const tenant = await db.shared.selectFrom('tenants').select('id').where('name', '=', 'waiting').executeTakeFirst();
    await db
      .tenant(String(tenant?.id))
      .insertInto('alerts')
      .values({ ...due, rule_id: String(waiting), fingerprint: 'one', due_at: later })
      .execute();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    world.receiver.answerWith(({ path }) =>
      (path === '/' ? released : Promise.resolve()).then(() => ({ status: 200 })),
    );
    const sending = world.sender.drain();
    try {
      await eventually(() => world.receiver.received.some(({ path }) => path === '/waiting'));
    } finally {
      release();
      await sending;
    }
    expect(world.receiver.received).toHaveLength(41);
  });

  it('may not lead to a private address unless the operator allows it, nor to a link-local one', async () => {
    const strict = await startAlerting({ 'alerts.allow-private-addresses': 'false' });
    try {
      await strict.connection('hook');
      const rule = await strict.rule('inside');
      const result = await strict.post(`/api/v2/alerts/rules/${String(rule['id'])}/test`, {});
      expect(result).toEqual({
        sent: false,
        message: expect.stringContaining('an address of a private network is not allowed') as string,
      });
      expect(strict.receiver.received).toEqual([]);
    } finally {
      await strict.close();
    }
    await world.connection('metadata', { host: 'http://169.254.169.254/latest' });
    const rule = await world.rule('metadata', { connection_id: 'metadata' });
    expect(await world.post(`/api/v2/alerts/rules/${String(rule['id'])}/test`, {})).toMatchObject({ sent: false });
  });
});

describe('a test of a rule', () => {
  it('is no scan of ports: a tenant has ten a minute, and each is in the audit log', async () => {
    await world.connection('broken_header', { host: '', password: 'line\nbreak' });
    const rule = await world.rule('scan', { channel: 'opsgenie', connection_id: 'broken_header' });
    const path = `/api/v2/alerts/rules/${String(rule['id'])}/test`;
    const first = await world.post(path, {});
    expect(first).toEqual({ sent: false, message: expect.stringMatching(/a character that no request may have/) });
    await eventually(async () => {
      const answer = await world.server.call(path, { method: 'POST', token: world.token });
      return answer.status === 429 && answer.json<{ type: string }>().type === 'urn:svc:error:test_rate_limited';
    });
    const { text } = await world.server.call('/api/v2/eventLogs?event=test_alert_rule', { token: world.token });
    expect(text).toContain('scan');
    expect(text).not.toContain('break');
  });
});

describe('a rule', () => {
  it('beyond a hundred of a tenant is refused, because each failure is compared with all of them', async () => {
    const rules = Array.from({ length: 100 }, (_, n) => ({ ...RULE, conn_id: 'hook', name: `r${n}`, created_by: 'a' }));
    await world.engine.scope
      .insertInto('alert_rules')
      .values(rules.map(({ connection_id: _connection, ...rule }) => rule))
      .execute();
    await expect(world.rule('one more')).rejects.toThrow(/409 .*There are 100 alert rules already/);
  });

  it('that is muted records its alerts and sends none; an acknowledged alert names who took it', async () => {
    const rule = await world.rule('quiet');
    await world.post(`/api/v2/alerts/rules/${String(rule['id'])}/mute`, { until: '2099-01-01T00:00:00Z' });
    await world.register('muted', graphOf({ a: [] }));
    await world.run('muted', { a: refused });
    await world.sender.drain();
    expect(world.receiver.received).toEqual([]);
    const [alert] = await alerts();
    expect(alert).toMatchObject({ status: 'open', messages: 0, due_at: null, dag_id: 'muted' });
    const taken = await world.post(`/api/v2/alerts/${String(alert?.['id'])}/acknowledge`, {});
    expect(taken['acknowledged_by']).toBe('admin@example.com');
  });

  it('of one tenant is neither seen, used nor changed by another, and a tenant without rules writes no fact', async () => {
    const rule = await world.rule('theirs');
    await world.server.addUser({ email: 'else@example.com', roles: ['admin'], tenant: 'elsewhere' });
    const other = await world.server.login('else@example.com', 'elsewhere');
    const seen = await world.server.call('/api/v2/alerts/rules', { token: other });
    expect(seen.json()).toMatchObject({ rules: [], total_entries: 0 });
    for (const path of [`rules/${String(rule['id'])}/test`, `rules/${String(rule['id'])}/mute`]) {
      const body = path.endsWith('mute') ? { until: null } : undefined;
      const answer = await world.server.call(`/api/v2/alerts/${path}`, { method: 'POST', token: other, body });
      expect(answer.status).toBe(404);
    }
    await world.engine.scope.deleteFrom('alert_rules').execute();
    await world.register('silent', graphOf({ a: [] }));
    await world.run('silent', { a: refused });
    expect(await world.server.db.shared.selectFrom('alert_facts').selectAll().execute()).toEqual([]);
  });
});
