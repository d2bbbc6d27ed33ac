import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installJsonParser } from './json-body.ts';

const app = fastify();
beforeAll(async () => {
  installJsonParser(app);
  app.post('/', async (request) => ({ body: request.body ?? 'nothing' }));
  await app.ready();
});
afterAll(() => app.close());

const post = async (payload: string, type = 'application/json') => {
  const answer = await app.inject({ method: 'POST', url: '/', headers: { 'content-type': type }, payload });
  return { status: answer.statusCode, body: (answer.json() as { body?: unknown }).body };
};
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a JSON body', () => {
  it('is read as it is', async () => {
    const value = { text: 'ü 💥 \u0001', list: [1, null, true], '': {} };
    expect(await post(JSON.stringify(value))).toEqual({ status: 200, body: value });
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
    '{"__proto__":{"x":1}}',
    '{"a":{"__proto__":null}}',
    '{"constructor":{"prototype":{"x":1}}}',
    String.raw`{"\u005f_proto__":1}`,
  ])('is refused when it would poison a prototype: %s', async (text) => {
    expect((await post(text)).status).not.toBe(200);
  });

  it.each(['{', 'nonsense', '{}{}', "{'a':1}", '[1,]', '\u0000'])('is refused when it is none: %j', async (text) => {
    expect((await post(text)).status).not.toBe(200);
  });

  it('is not read from plain text, which pages of other sites may send unasked', async () => {
    expect((await post('{}', 'text/plain')).status).toBe(415);
  });

  /** As part of a body that is read in turns with others. */
  const inLarge = (text: string): string => `[${'"a",'.repeat(30_000)}${text}]`;

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
