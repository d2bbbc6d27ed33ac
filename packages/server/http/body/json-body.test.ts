import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installJsonParser } from './json-body.ts';

const app = fastify();
beforeAll(async () => {
  installJsonParser(app);
  app.post('/', async (request) => ({ body: request.body ?? 'nothing' }));
  const body = {
    type: 'object',
    properties: {
      slots: { type: 'integer' },
      port: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      conf: { type: 'object', additionalProperties: true },
      value: {},
      extra: { type: 'object', patternProperties: { '^.*$': {} } },
      entities: {
        type: 'array',
        items: { anyOf: [{ type: 'object', properties: { value: {} } }, { type: 'string' }] },
      },
    },
  };
  app.post('/typed', { schema: { body } }, async (request, reply) => {
    const sent = request.body as { slots?: unknown };
    return reply.type('application/json').send(JSON.stringify({ slots: typeof sent.slots, body: sent }));
  });
  await app.ready();
});
afterAll(() => app.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const TYPED = { method: 'POST', url: '/typed', headers: JSON_TYPE } as const;

const post = async (payload: string, type = 'application/json') => {
  const answer = await app.inject({ method: 'POST', url: '/', headers: { 'content-type': type }, payload });
  return { status: answer.statusCode, body: (answer.json() as { body?: unknown }).body };
};
/** As part of a body that is read in turns with others. */
const inLarge = (text: string): string => `[${'"a",'.repeat(30_000)}${text}]`;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a JSON body', () => {
  it('is read as it is', async () => {
    const value = { text: 'ü 💥 \u0001', list: [1, null, true], '': {} };
    expect(await post(JSON.stringify(value))).toEqual({ status: 200, body: value });
  });

  it('keeps the digits of what it leaves open, and computes with the rest', async () => {
    const payload =
      '{"slots":5.0,"port":1e3,"conf":{"a":[9007199254740993,1.0,-0.0,1e5]},"value":12345678901234567890,' +
      '"extra":{"x":1.50},"entities":[{"value":0.10},"1.0"]}';
    const answer = await app.inject({ ...TYPED, payload });
    expect(answer.payload).toBe(
      '{"slots":"number","body":{"slots":5,"port":1000,"conf":{"a":[9007199254740993,1.0,-0.0,1e5]},' +
        '"value":12345678901234567890,"extra":{"x":1.50},"entities":[{"value":0.10},"1.0"]}}',
    );
  });

  it('does not take a long number for an object', async () => {
    const answer = await app.inject({ ...TYPED, payload: '{"conf":12345678901234567890}' });
    expect([answer.statusCode, answer.payload]).toEqual([400, expect.stringContaining('body/conf must be object')]);
  });

  it.each([
    ['{"conf":{"a":[1,{"big":1e999}]}}', 'conf.a.1.big: 1e999 is beyond'],
    ['{"slots":-1e400}', 'slots: -1e400 is beyond'],
    ['{"value":1e-999}', 'value: 1e-999 is nearer to 0'],
    [`{"value":1${'0'.repeat(500)}}`, 'value: 1000000000000000000000000000000000000000… is beyond'],
    [`{"value":0.${'1'.repeat(2_000)}}`, 'has more than 1100 digits'],
    [String.raw`{"conf":{"a":"\u0000"}}`, 'conf.a must not contain U+0000'],
    [String.raw`{"conf":{"\ud800":1}}`, 'a name in conf must not contain'],
  ])('says where it holds what cannot be kept: %s', async (payload, words) => {
    const answer = await app.inject({ ...TYPED, payload });
    expect(answer.payload).toContain(words);
    expect(answer.statusCode).not.toBe(200);
  });

  it.each([
    ['a byte alone', Buffer.from([0x22, 0xff, 0x22])],
    ['Latin-1', Buffer.from('{"a":"ü"}', 'latin1')],
    ['a character cut off', Buffer.from('"ü').subarray(0, 2)],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['half of a surrogate pair', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ])('is refused when it is no UTF-8: %s', async (_name, payload) => {
    const answer = await app.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload });
    expect(answer.statusCode).not.toBe(200);
    expect(answer.payload).toMatch(/not valid UTF-8|one JSON document/);
  });

  it('may begin with a byte-order mark', async () => {
    expect(await post('\uFEFF{"a":1}')).toEqual({ status: 200, body: { a: 1 } });
  });

  it('may be missing although a header says it is JSON', async () => {
    expect(await post('')).toEqual({ status: 200, body: 'nothing' });
  });

  it('may hold escapes that only look dangerous', async () => {
    expect((await post(String.raw`"\\u0000 \\ud800 \ud83d\udca5"`)).body).toBe(String.raw`\u0000 \ud800 💥`);
  });

  it.each([
    String.raw`"\u0000"`,
    String.raw`{"a":["b",{"c":"x\u0000"}]}`,
    String.raw`{"\u0000":1}`,
    String.raw`"\ud800"`,
    String.raw`["\udc00\ud800"]`,
    String.raw`{"\ud83d":1}`,
  ])('is refused when it holds what Postgres cannot store: %s', async (text) => {
    expect((await post(text)).status).not.toBe(200);
  });

  it('is refused when it nests deeper than the stack would bear, and the process lives', async () => {
    expect((await post(nested(200))).status).toBe(200);
    expect((await post(nested(201))).status).not.toBe(200);
    expect((await post(nested(400_000))).status).not.toBe(200);
    expect((await post(`${'{"a":'.repeat(100_000)}"\\u0000"${'}'.repeat(100_000)}`)).status).not.toBe(200);
    expect((await post('{}')).status).toBe(200);
  });

  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"conf":{"limits":[{"max":1,"max":2}]}}', 'conf.limits.max'],
    [String.raw`{"conf":{"a":1,"\u0061":1}}`, 'conf.a'],
  ])('is refused when one of two values of a key would be lost: %s', async (payload, key) => {
    for (const text of [payload, inLarge(payload)]) {
      const answer = await app.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload: text });
      expect(answer.payload).toContain(`the body has the key \\"${key}\\" twice: send it once`);
      expect(answer.statusCode).not.toBe(200);
    }
  });

  it.each([
    '{"__proto__":{"x":1}}',
    '{"a":{"__proto__":null}}',
    '{"constructor":{"prototype":{"x":1}}}',
    String.raw`{"\u005f_proto__":1}`,
  ])('is refused when it would poison a prototype: %s', async (text) => {
    expect((await post(text)).status).not.toBe(200);
  });

  it('is told so, and not that it is no JSON, when it would poison a prototype, small or large', async () => {
    const text = '{"a":{"__proto__":null}}';
    for (const payload of [text, inLarge(text)]) {
      const answer = await app.inject({ method: 'POST', url: '/', headers: JSON_TYPE, payload });
      expect(answer.json<{ message: string }>().message).toMatch('must not have the key "__proto__"');
    }
  });

  it.each(['{', 'nonsense', '{}{}', "{'a':1}", '[1,]', '\u0000'])('is refused when it is none: %j', async (text) => {
    expect((await post(text)).status).not.toBe(200);
  });

  it('is not read from plain text, which pages of other sites may send unasked', async () => {
    expect((await post('{}', 'text/plain')).status).toBe(415);
  });

  it.each([
    String.raw`{"a":["b",{"c":"x\u0000"}]}`,
    String.raw`{"\ud83d":1}`,
    '{"a":{"__proto__":null}}',
    '{"constructor":{"prototype":{"x":1}}}',
    nested(200),
    '{"a":1',
  ])('is refused for the same reasons when it is large: %s', async (text) => {
    expect((await post(inLarge(text))).status).not.toBe(200);
    expect((await post(inLarge('{"constructor":{"a":"b"}}'))).status).toBe(200);
  });
});
