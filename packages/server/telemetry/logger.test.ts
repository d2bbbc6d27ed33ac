import Fastify from 'fastify';
import fc from 'fast-check';
import type { Logger } from 'pino';
import { describe, expect, test } from 'vitest';
import { createLogger, parseLogLevel } from './logger.ts';
import { createSecretRegistry } from './redact.ts';
import { loggableUrl } from './request-log.ts';

const CANARY = 'c4nary"value/with+marks';
const FORMATS = ['json', 'text'] as const;

function loggerInto(options: { format: string; level?: string; secrets?: string[]; isTTY?: boolean }) {
  const lines: string[] = [];
  const secrets = createSecretRegistry();
  for (const secret of options.secrets ?? [CANARY]) secrets.add(secret);
  const destination = { write: (line: string) => void lines.push(line), isTTY: options.isTTY ?? false };
  const logger = createLogger({ level: options.level ?? 'debug', format: options.format, destination, secrets });
  return { logger, lines, output: () => lines.join('') };
}

/** Every form in which a reader could recognise the canary or a good part of it. */
const TRACES = [
  CANARY,
  JSON.stringify(CANARY).slice(1, -1),
  encodeURIComponent(CANARY),
  CANARY.slice(0, 12),
  CANARY.slice(-12),
  Buffer.from(CANARY).toString('base64').slice(0, 12),
];

const withCause = (): Error => new Error(`outer ${CANARY}`, { cause: new TypeError(`inner ${CANARY}`) });

const POSITIONS: [string, (logger: Logger) => void][] = [
  ['message', (log) => log.info(`using ${CANARY}`)],
  ['%s argument', (log) => log.info('using %s', CANARY)],
  ['two %s arguments that join into the secret', (log) => log.info('using %s%s', CANARY.slice(0, 9), CANARY.slice(9))],
  ['%j argument', (log) => log.info('using %j', { a: CANARY })],
  ['%o argument', (log) => log.info('using %o', { a: [CANARY] })],
  ['argument without a placeholder', (log) => log.info(...(['using', { a: CANARY }] as unknown as [string]))],
  ['field', (log) => log.info({ value: CANARY }, 'm')],
  ['field name', (log) => log.info({ [CANARY]: 1 }, 'm')],
  ['nested field', (log) => log.info({ a: [{ b: { c: CANARY } }] }, 'm')],
  ['msg field', (log) => log.info({ msg: CANARY })],
  ['template after an object', (log) => log.warn({ a: 1 }, 'using %s', CANARY)],
  ['error', (log) => log.error(withCause())],
  ['error with a message', (log) => log.error(withCause(), `failed with ${CANARY}`)],
  ['error field', (log) => log.error({ err: withCause() }, 'm')],
  ['error under another name', (log) => log.error({ problem: withCause() }, 'm')],
  ['error property', (log) => log.error(Object.assign(new Error('x'), { detail: CANARY }))],
  ['error as an argument', (log) => log.error('failed: %s', withCause())],
  ['URL object', (log) => log.info({ url: new URL(`http://h/?q=${encodeURIComponent(CANARY)}`) }, 'm')],
  ['URL password', (log) => log.info(`postgres://u:${encodeURIComponent(CANARY)}@h/db`)],
  ['request URL', (log) => log.info({ req: { method: 'GET', url: `/x?q=${encodeURIComponent(CANARY)}` } }, 'm')],
  [
    'request headers',
    (log) => log.info({ req: { method: 'GET', url: '/***', headers: { authorization: CANARY } } }, 'm'),
  ],
  ['header field', (log) => log.info({ headers: { 'x-custom': CANARY, cookie: `_t=${CANARY}` } }, 'm')],
  ['base64', (log) => log.info(`Basic ${Buffer.from(`user:${CANARY}`).toString('base64')}`)],
  ['cut off at the end', (log) => log.info(`starts ${CANARY.slice(0, 14)}`)],
  ['cut off in a field', (log) => log.info({ preview: `${CANARY.slice(0, 14)}...` }, 'm')],
  ['child binding', (log) => log.child({ who: CANARY }).info('m')],
  [
    'grandchild binding',
    (log) =>
      log
        .child({ a: 1 })
        .child({ who: { deep: CANARY } }, { level: 'debug' })
        .info('m'),
  ],
  ['child prefix', (log) => log.child({}, { msgPrefix: `[${CANARY}] ` }).info('m')],
  ['set binding', (log) => (log.setBindings({ who: CANARY }), log.info('m'))],
  [
    'child serializer',
    (log) =>
      log.child({}, { serializers: { job: (job: { k: string }) => `job ${job.k}` } }).info({ job: { k: CANARY } }, 'm'),
  ],
];

describe.each(FORMATS)('a secret never reaches a %s line', (format) => {
  test.each(POSITIONS)('%s', (_position, write) => {
    const { logger, lines, output } = loggerInto({ format });
    write(logger);
    expect(lines).toHaveLength(1);
    expect(output()).toContain('***');
    for (const trace of TRACES) expect(output()).not.toContain(trace);
  });

  test('a field with a sensitive name is hidden although its value is unknown', () => {
    const { logger, output } = loggerInto({ format });
    logger.info({ db: { password: 'unknown-1' }, 'set-cookie': ['unknown-2'], apiKey: 'unknown-3' }, 'with %j', {
      token: 'unknown-4',
    });
    expect(output()).not.toContain('unknown-');
  });

  test('a hostile object costs a bounded line and no exception', () => {
    const { logger, lines } = loggerInto({ format });
    const loop: Record<string, unknown> = { list: Array.from({ length: 5_000 }, (_, index) => index) };
    loop['self'] = loop;
    logger.info(loop, 'm');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(2_000);
  });
});

describe('json', () => {
  test('one line per record: ISO time, level as a word, msg, fields, and no process noise', () => {
    const { logger, lines } = loggerInto({ format: 'json' });
    logger.warn({ dag_id: 'd' }, 'queued %d of %s', 3, 'ten');
    expect(lines[0]?.endsWith('}\n')).toBe(true);
    const record = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(Object.keys(record)).toEqual(['level', 'time', 'dag_id', 'msg']);
    expect(record).toMatchObject({ level: 'warn', dag_id: 'd', msg: 'queued 3 of ten' });
    expect(record['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Date.parse(String(record['time']))).not.toBeNaN();
  });

  test('whatever is logged under whatever secrets, the line stays one valid JSON object', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.jsonValue(),
        fc.array(fc.string({ minLength: 4 }), { maxLength: 3 }),
        (msg, value, secrets) => {
          const { logger, lines } = loggerInto({ format: 'json', secrets: [...secrets, 'level', '"msg":"'] });
          logger.info({ value }, msg);
          expect(lines).toHaveLength(1);
          expect(lines[0]?.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
          expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info' });
        },
      ),
    );
  });

  test('an error without a message of its own reports the masked one', () => {
    const { logger, lines } = loggerInto({ format: 'json' });
    logger.error(new RangeError(`bad ${CANARY}`));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'bad ***',
      err: { type: 'RangeError', message: 'bad ***' },
    });
  });
});

test('the code of a message is a field in JSON and precedes the message in text, so that both can be searched', () => {
  const [json, text] = FORMATS.map((format) => loggerInto({ format }));
  for (const kept of [json, text]) kept?.logger.warn({ code: 'SVC2006', attempt: 'a1' }, 'attempt lease expired');
  expect(JSON.parse(json?.output() ?? '')).toMatchObject({ code: 'SVC2006', msg: 'attempt lease expired' });
  expect(text?.output()).toContain('SVC2006 attempt lease expired');
  // Another field of this name stays a field.
  text?.logger.info({ code: 'E42' }, 'ended');
  expect(text?.output()).toMatch(/ ended/);
  expect(text?.output()).not.toContain('E42 ended');
});

describe('text', () => {
  test('a line a person can read, without colour when it is not a terminal', () => {
    const { logger, output } = loggerInto({ format: 'text' });
    logger.info({ dag_id: 'd' }, 'ready');
    expect(output()).toMatch(/^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] INFO: ready \{"dag_id":"d"\}\n$/);
  });

  test('colour on a terminal', () => {
    const { logger, output } = loggerInto({ format: 'text', isTTY: true });
    logger.info('ready');
    expect(output()).toContain('\u001b[32m');
  });

  test('values cannot forge a record or drive the terminal, whichever way they come in', () => {
    const attack = 'x\n[2026-01-01T00:00:00.000Z] INFO: forged\r\u001b[2J\u009b2J\u2028\u202e';
    const { logger, output } = loggerInto({ format: 'text' });
    logger.info(attack);
    logger.info({ field: attack, [attack]: 1 }, 'm %s', attack);
    logger.child({ bound: attack }).error(Object.assign(new Error(attack), { detail: attack }), attack);
    logger.info({ type: 'Error', stack: attack, msg: attack });
    expect(output()).not.toMatch(/[\r\u001b\u009b\u2028\u202e]/);
    // Only records start in the first column.
    const records = output()
      .split('\n')
      .filter((line) => /^\S/.test(line));
    expect(records).toHaveLength(4);
    expect(output()).not.toMatch(/^\[2026-01-01/m);
  });

  test('a stack keeps its line breaks', () => {
    const { logger, output } = loggerInto({ format: 'text' });
    logger.error(new Error('boom'));
    expect(output()).toMatch(/^ +Error: boom\n +at /m);
  });
});

describe('levels', () => {
  test.each([
    ['debug', 'debug'],
    ['info', 'info'],
    ['warn', 'warn'],
    ['warning', 'warn'],
    ['error', 'error'],
    ['WARNING', 'warn'],
    [' Debug ', 'debug'],
    ['verbose', 'info'],
    ['fatal', 'info'],
    ['silent', 'info'],
    ['', 'info'],
    ['constructor', 'info'],
  ])('%s means %s', (given, expected) => {
    expect(parseLogLevel(given)).toBe(expected);
    expect(loggerInto({ format: 'json', level: given }).logger.level).toBe(expected);
  });

  test('a record below the level is not written', () => {
    const { logger, lines } = loggerInto({ format: 'json', level: 'warning' });
    logger.info('no');
    logger.warn('yes');
    expect(lines).toHaveLength(1);
  });

  test('an unknown format is json', () => {
    const { logger, lines } = loggerInto({ format: 'xml' });
    logger.info('m');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'm' });
  });
});

describe('request lines', () => {
  test('the framework logs method, masked URL, id, client, status and time, and no header or body', async () => {
    const { logger, lines, output } = loggerInto({ format: 'json' });
    const app = Fastify({ loggerInstance: logger });
    app.post('/login', async (request) => {
      request.log.info({ req: request }, 'inside');
      request.log.info(request.raw, 'raw');
      throw new Error(`no ${CANARY}`);
    });
    await app.inject({
      method: 'POST',
      url: `/login?access_token=abc123&%74oken=def456&q=${encodeURIComponent(CANARY)}`,
      headers: { authorization: 'Bearer header-secret', cookie: '_token=cookie-secret' },
      payload: { password: 'body-secret' },
    });
    await app.close();
    const records = lines.map((line) => JSON.parse(line) as { msg: string; req?: object; res?: object; err?: object });
    expect(records[0]).toMatchObject({
      msg: 'incoming request',
      req: { id: 'req-1', method: 'POST', url: '/login?access_token=***&%74oken=***&q=***', client: '127.0.0.1' },
    });
    expect(Object.keys(records[0]?.req ?? {}).sort()).toEqual(['client', 'id', 'method', 'url']);
    const completed = records.find((record) => record.msg === 'request completed');
    expect(completed?.res).toEqual({ status: 500, ms: expect.any(Number) });
    expect(records.find((record) => record.err !== undefined)?.err).toMatchObject({ message: 'no ***' });
    for (const leak of ['abc123', 'def456', 'header-secret', 'cookie-secret', 'body-secret', ...TRACES]) {
      expect(output()).not.toContain(leak);
    }
  });

  test('the one-time code of a sign-on callback is a credential; filters stay readable', () => {
    expect(loggableUrl('/cb?code=abc&state=running&limit=5')).toBe('/cb?code=***&state=running&limit=5');
    expect(loggableUrl('/plain')).toBe('/plain');
    expect(loggableUrl('/x?%zz=1&flag')).toBe('/x?%zz=1&flag');
  });

  test('a URL of any length costs a bounded line', () => {
    expect(loggableUrl(`/${'x'.repeat(100_000)}`).length).toBeLessThan(2_100);
  });
});
