/** What strangers, and attempts that are over, can do to the agent service: nothing, and cheaply. Every method of the service. */
import type { EventEmitter } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Metadata, credentials, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import { MAX_HEARTBEAT_TOKENS, MAX_LOG_CHUNK_BYTES } from '@svc/proto/limits.ts';
import { connectAgentClient } from '@svc/testing/agents/agent-client.ts';
import type { AgentTestClient } from '@svc/testing/agents/agent-client.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { calibrate, watchHeldTurns } from '@svc/testing/event-loop/held-turns.ts';
import { generateWorkerToken } from '../auth/service-tokens.ts';
import { insertWorkerToken } from '../db/workers/worker-tokens.ts';
import { createJoinSide } from './workers/join.ts';
import type { ReviewedPod } from './pod-exchange.ts';
import { requestLimits } from './request-limits.ts';
import type { RpcMethod } from './request-limits.ts';
import { RpcError } from './rpc-errors.ts';

const DAG = `
from airflow.sdk import dag, task

@dag(schedule=None)
def flow():
    @task
    def extract():
        return 1

    extract()

flow()
`;

const METHODS = Object.keys(Agent.service) as RpcMethod[];
const LIMITS = requestLimits({ xcomMaxBytes: 1_048_576 });
/** No message at all: whoever decodes it fails with INTERNAL. */
const GARBAGE = Buffer.alloc(64 * 1024, 0xff);

let harness: AgentHarness;
let client: AgentTestClient;
let raw: InstanceType<typeof Agent>;

beforeAll(async () => {
  harness = await startAgentHarness();
  await harness.addDag(harness.tenants.a, 'flow.py', DAG);
  const service = await harness.startService();
  service.reviewPodsWith(async (token) => {
    const of = ofPods.get(token);
    if (!of) throw new RpcError('unauthenticated', 'no pod of ours');
    return { name: 'pod', uid: token, of };
  });
  service.joinWith(createJoinSide({ ...harness, hasTls: false }));
  client = connectAgentClient(harness.address());
  raw = new Agent(harness.address(), credentials.createInsecure(), { 'grpc.max_send_message_length': -1 });
});

afterAll(async () => {
  raw?.close();
  client?.close();
  await harness?.close();
});

/** The answer to these bytes, whatever they are. */
function send(method: RpcMethod, token: string, bytes: Buffer): Promise<{ code: string; details: string }> {
  const metadata = new Metadata();
  if (token !== '') metadata.set('authorization', `Bearer ${token}`);
  const { path } = Agent.service[method];
  return new Promise((resolve) => {
    const stream = raw.makeServerStreamRequest(
      path,
      (sent: Buffer) => sent,
      (received) => received,
      bytes,
      metadata,
    );
    stream.on('error', ({ code, details }: ServiceError) => resolve({ code: status[code], details }));
    stream.on('data', () => {});
    stream.on('end', () => resolve({ code: 'OK', details: '' }));
  });
}

async function started(): Promise<{ attempt: QueuedAttempt; token: string }> {
  const attempt = await harness.queue({ dagId: 'flow', taskId: 'extract' });
  const token = await harness.token(attempt);
  await client.call('Start', token, { hostname: 'test', pid: 1 });
  return { attempt, token };
}

/** What a cluster would vouch for. */
const ofPods = new Map<string, ReviewedPod['of']>();

async function goodTokenFor(method: RpcMethod): Promise<string> {
  if (method === 'Work') return harness.credentials.issueWorker('w');
  if (method === 'Join') return joinToken();
  if (method !== 'Exchange') return (await started()).token;
  const token = `pod ${ofPods.size}`;
  const attempt = await harness.queue({ dagId: 'flow', taskId: 'extract' });
  ofPods.set(token, { kind: 'attempt', identity: { kind: 'task', ...attempt } });
  return token;
}

async function joinToken(): Promise<string> {
  const { token, hash, start } = generateWorkerToken();
  const row = { queues: ['gpu'], hash, start, comment: '', createdBy: 'ann', expiresAt: null };
  await insertWorkerToken(harness.db.tenant(harness.tenants.a), row);
  return token;
}

const success = { outcome_json: '{"state":"success"}', log_offset: 0, log_data: Buffer.alloc(0) };

describe.each(METHODS)('%s', (method) => {
  it('turns a stranger away without reading the message', async () => {
    for (const token of ['', 'nonsense', 'x'.repeat(6_000)]) {
      expect((await send(method, token, GARBAGE)).code).toBe('UNAUTHENTICATED');
    }
    expect((await send(method, await goodTokenFor(method), GARBAGE)).code).not.toBe('UNAUTHENTICATED');
  });

  it('says how large a message may be, and decodes none that is larger', async () => {
    const { code, details } = await send(method, await goodTokenFor(method), Buffer.alloc(LIMITS[method].bytes + 1));
    expect(code).toMatch(/^(RESOURCE_EXHAUSTED|OUT_OF_RANGE)$/);
    expect(details).toContain(`at most ${LIMITS[method].bytes} bytes`);
  });

  it('decodes no message of more fields than it has a use for', async () => {
    const fields = Buffer.alloc(4 * (LIMITS[method].fields + 1), Buffer.from([0x78, 0x00])); // field 15, the number 0
    const { code, details } = await send(method, await goodTokenFor(method), fields.subarray(0, LIMITS[method].bytes));
    expect([code, details]).toEqual(['INVALID_ARGUMENT', expect.stringContaining('at most')]);
  });
});

describe('a stranger that keeps sending', () => {
  const MIB = 1024 * 1024;
  /** Resolves when its stream is over, with what it was answered. */
  const sendFrom = (session: ClientHttp2Session, length: number): Promise<unknown> => {
    const stream = session.request({
      ':method': 'POST',
      ':path': Agent.service.AppendLog.path,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: 'Bearer nonsense',
    });
    let answered: unknown;
    stream.on('response', (headers) => void (answered = headers['grpc-status'])).resume();
    stream.on('error', () => {});
    const head = Buffer.alloc(5);
    head.writeUInt32BE(length, 1);
    stream.write(head);
    pipeline(Readable.from(parts(length)), stream).catch(() => {});
    return closed(stream).then(() => answered);
  };
  const closed = (one: EventEmitter): Promise<void> => new Promise((resolve) => void one.once('close', resolve));
  function* parts(length: number): Generator<Buffer> {
    for (let left = length; left > 0; left -= GARBAGE.length) yield GARBAGE;
  }

  it('gets its answer, and the rest of its message is not read', async () => {
    const session = connect(`http://${harness.address()}`);
    expect(await sendFrom(session, 400 * MIB)).toBe(String(status.UNAUTHENTICATED));
    expect(session.socket.bytesWritten).toBeLessThan(2 * MIB);
    session.destroy();
  });

  it('loses its connection when it makes nothing but refused calls, and others keep theirs', async () => {
    const session = connect(`http://${harness.address()}`);
    session.on('error', () => {});
    const ended = closed(session);
    for (let call = 0; call < 60 && !session.destroyed; call += 1) await sendFrom(session, 0);
    await ended;
    const { token } = await started();
    for (let call = 0; call < 60; call += 1) {
      expect(await client.refusal('AppendLog', 'nonsense', {})).toBe('UNAUTHENTICATED');
      if (call % 20 === 0) await client.call('Heartbeat', token, { tokens: [token] });
    }
  });
});

describe('a heartbeat', () => {
  it('with 100,000 credentials is told how many it may have', async () => {
    const { token } = await started();
    const bytes = Agent.service.Heartbeat.requestSerialize({ tokens: Array.from({ length: 100_000 }, () => 'junk') });
    const { code, details } = await send('Heartbeat', token, bytes);
    expect(code).toBe('INVALID_ARGUMENT');
    expect(details).toContain(`at most ${MAX_HEARTBEAT_TOKENS} credentials`);
  });

  it('may be made by a worker as by an attempt, and each credential in it counts for itself', async () => {
    const { token } = await started();
    for (const caller of [token, await harness.credentials.issueWorker('w')]) {
      const { beats } = await client.call('Heartbeat', caller, { tokens: ['nonsense', token] });
      expect(beats.map(({ stop }) => stop)).toEqual([true, false]);
    }
  });
});

describe('a message as large as it may be', () => {
  const forged = (token: string): string => `${token.slice(0, -6)}AAAAAA`;
  const half = '[],{"a":1},'.repeat(40_000);
  const big = (token: string): Record<RpcMethod, Buffer> => ({
    Exchange: Agent.service.Exchange.requestSerialize({}),
    Join: Agent.service.Join.requestSerialize({ hostname: 'h', version: '0', name: '', queues: [], slots: 1 }),
    Work: Agent.service.Work.requestSerialize({ hostname: 'h'.repeat(4_000) }),
    Start: Agent.service.Start.requestSerialize({ hostname: 'h'.repeat(4_000), pid: 1 }),
    GetVersion: Agent.service.GetVersion.requestSerialize({}),
    Heartbeat: Agent.service.Heartbeat.requestSerialize({
      tokens: Array.from({ length: MAX_HEARTBEAT_TOKENS }, () => forged(token)),
    }),
    AppendLog: Agent.service.AppendLog.requestSerialize({ offset: 0, data: Buffer.alloc(MAX_LOG_CHUNK_BYTES, '\n') }),
    Call: Agent.service.Call.requestSerialize({
      method: 'set_xcom',
      params_json: `{"key":"k","value":[${half}${half}0]}`,
      request_id: '1',
    }),
    Finish: Agent.service.Finish.requestSerialize({
      outcome_json: JSON.stringify({
        state: 'success',
        xcoms: Array.from({ length: 4 }, (_, n) => ({ key: `k${n}`, value: `[${half}${half}0]` })),
        renderedFields: JSON.parse(`{"a":[${half}0]}`) as object,
      }),
    }),
  });

  it.each(METHODS)('to %s holds up nobody, in processor time of one turn', async (method) => {
    const limit = Math.max(50, 6 * calibrate());
    const held: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      const token = await goodTokenFor(method);
      const bytes = big(token)[method];
      const turns = watchHeldTurns();
      await send(method, token, bytes);
      held.push(turns.longest());
      turns.stop();
    }
    expect(Math.min(...held)).toBeLessThan(limit);
  });
});

describe('the credential of an attempt that is over', () => {
  const line = (event: string): Buffer => Buffer.from(`${JSON.stringify({ event })}\n`);
  const eventsOf = async (attempt: QueuedAttempt): Promise<string[]> =>
    (await harness.logOf(attempt)).map(({ event }) => event);

  it('writes nothing to its log any more: not by itself, nor with its outcome reported again', async () => {
    const { attempt, token } = await started();
    const last = line('last');
    await client.call('Finish', token, { ...success, log_data: last });
    const more = { offset: last.length, data: line('forged') };
    expect(await client.refusal('AppendLog', token, more)).toBe('ABORTED');
    await client.call('Finish', token, { ...success, log_offset: more.offset, log_data: more.data, log_goes_on: true });
    expect(await client.refusal('AppendLog', token, more)).toBe('ABORTED');
    expect(await eventsOf(attempt)).toEqual(['last']);
  });

  it('writes the lines of a process that was still ending, when the outcome said so', async () => {
    const { attempt, token } = await started();
    await client.call('Finish', token, { ...success, log_goes_on: true });
    await client.call('AppendLog', token, { offset: 0, data: line('at exit') });
    expect(await eventsOf(attempt)).toEqual(['at exit']);
  });

  it.each([
    { age: '5 seconds', written: ['stopped'] },
    { age: '1 minute', written: [] },
  ])('writes for a moment when others have ended it: $age later $written', async ({ age, written }) => {
    const { attempt, token } = await started();
    await harness.endInstance(attempt, { age });
    await client.call('AppendLog', token, { offset: 0, data: line('stopped') }).catch(() => {});
    expect(await eventsOf(attempt)).toEqual(written);
  });

  it('gets no version, and no answer to what tasks ask, but for secrets, which have a rule of their own', async () => {
    const { token } = await started();
    await client.call('Finish', token, success);
    expect(await client.refusal('GetVersion', token, {})).toBe('ABORTED');
    const asked: [string, object][] = [
      ['get_xcom', { task_id: 'extract' }],
      ['set_xcom', { key: 'k', value: 1 }],
      ['delete_xcom', { key: 'k' }],
      ['set_variable', { key: 'k', value: 'v' }],
      ['delete_variable', { key: 'k' }],
      ['get_dag_run_state', { dag_id: 'flow', run_id: 'r' }],
      ['external_states', { dag_id: 'flow' }],
      ['next_run_after', {}],
      ['previous_run', {}],
      ['previous_instance', {}],
      ['get_dag', { dag_id: 'flow' }],
      ['asset_events', {}],
      ['trigger_dag_run', { dag_id: 'flow' }],
      ['ask_person', { subject: 's', options: ['a'] }],
    ];
    for (const [name, params] of asked)
      expect([name, await client.refusedAsk(token, name, params)]).toEqual([name, 'ABORTED']);
  });
});

describe('the token of a pod', () => {
  it('is exchanged once, for an attempt that has not begun, and every refusal is in the audit log', async () => {
    const token = await goodTokenFor('Exchange');
    const { token: credential } = await client.call('Exchange', token, {});
    expect(await client.refusal('Exchange', token, {})).toBe('PERMISSION_DENIED');
    // Another pod for the same attempt, once that runs.
    const identity = ofPods.get(token);
    if (!identity) throw new Error('unreachable');
    ofPods.set('other pod', identity);
    await client.call('Start', credential, { hostname: 'first', pid: 1 });
    expect(await client.refusal('Exchange', 'other pod', {})).toBe('PERMISSION_DENIED');
    await client.call('Finish', credential, success);
    expect(await client.refusal('Exchange', 'other pod', {})).toBe('PERMISSION_DENIED');
    const entries = await harness.db
      .tenant(harness.tenants.a)
      .selectFrom('audit_log')
      .select('detail')
      .where('event', '=', 'agent_token_refused')
      .orderBy('id')
      .execute();
    expect(entries.map(({ detail }) => detail['reason'])).toEqual([
      'the token of this pod was exchanged before',
      'the attempt of this pod has begun already',
      'the attempt of this pod is over',
    ]);
  });
});

describe('a worker that joins', () => {
  it('from another host is refused where there is no TLS, whatever its token', async () => {
    const side = createJoinSide({ ...harness, hasTls: false });
    const token = await side.review(await joinToken());
    const request = { hostname: 'h', version: '0', name: 'w', queues: [], slots: 1 };
    for (const peer of ['10.1.2.3:4242', '[2001:db8::1]:4242', '127.0.0.1.example.com:1']) {
      await expect(side.join(token, request, peer)).rejects.toThrow('over TLS only');
    }
    for (const peer of ['127.0.0.1:4242', '[::1]:4242', '[::ffff:127.0.0.1]:4242']) {
      expect((await side.join(token, request, peer)).queues).toEqual(['gpu']);
    }
    const encrypted = createJoinSide({ ...harness, hasTls: true });
    expect((await encrypted.join(token, request, '10.1.2.3:4242')).queues).toEqual(['gpu']);
  });

  it('gets a credential that opens a stream only where somebody knows it', async () => {
    const { token } = await client.call('Join', await joinToken(), { hostname: 'h', slots: 1 });
    const scope = (await harness.credentials.verifyWorker(token))?.scope;
    expect(scope).toMatchObject({ kind: 'remote', tenantId: harness.tenants.a, queues: ['gpu'], name: 'h' });
    expect((await send('Work', token, Agent.service.Work.requestSerialize({}))).code).toBe('PERMISSION_DENIED');
    for (const slots of [0, 1_001]) {
      expect(await client.refusal('Join', await joinToken(), { hostname: 'h', slots })).toBe('INVALID_ARGUMENT');
    }
  });
});
