import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSecretRegistry } from './redact.ts';

function registryOf(...secrets: string[]) {
  const registry = createSecretRegistry();
  for (const secret of secrets) registry.add(secret);
  return registry;
}

const CANARY = 'cAnary/7+value?&"q"=zz';

describe('known values', () => {
  test('a value is masked wherever it stands, and nothing else is', () => {
    const registry = registryOf('s3cr3t-one');
    expect(registry.redact('s3cr3t-one')).toBe('***');
    expect(registry.redact('a s3cr3t-one b(s3cr3t-one)')).toBe('a *** b(***)');
    expect(registry.redact('nothing to hide')).toBe('nothing to hide');
  });

  test('a value added later is masked from then on', () => {
    const registry = registryOf('s3cr3t-one');
    expect(registry.redact('s3cr3t-two')).toBe('s3cr3t-two');
    registry.add('s3cr3t-two');
    expect(registry.redact('s3cr3t-one s3cr3t-two')).toBe('*** ***');
  });

  test('values too short to protect do not blank out ordinary text', () => {
    expect(registryOf('abc', '', '  x \n').redact('abc x abcd')).toBe('abc x abcd');
    expect(registryOf('abcd').redact('abc abcd')).toBe('abc ***');
  });

  test('a trailing newline in a secret file does not hide the secret from the matcher', () => {
    expect(registryOf('from-a-file\n').redact('got from-a-file, ok')).toBe('got ***, ok');
  });

  test.each([
    ['one inside the other', ['abcd', 'xxabcdyy'], '-xxabcdyy-', '-***-'],
    ['the short one first', ['abcdefgh', 'abcd'], '-abcdefgh-abcd-', '-***-***-'],
    ['overlapping at the ends', ['abcdef', 'defghi'], '-abcdefghi-', '-***-'],
    ['touching', ['abcdef', 'ghijkl'], '-abcdefghijkl-', '-***-'],
    ['overlapping itself', ['abab'], '-ababab-', '-***-'],
  ])('secrets %s leave no remainder', (_case, secrets, text, expected) => {
    expect(registryOf(...secrets).redact(text)).toBe(expected);
  });

  test('for any secrets and any text, no secret survives and text without secrets is untouched', () => {
    const alphabet = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(
        fc.array(alphabet, { minLength: 1, maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 60 }),
        (secrets, text) => {
          const out = registryOf(...secrets).redact(text);
          for (const secret of secrets) expect(out).not.toContain(secret);
          const holdsOne = secrets.some((secret) => text.includes(secret));
          expect(out === text).toBe(!holdsOne);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('thousands of secrets with one common prefix are each found', () => {
    const secrets = Array.from(
      { length: 5_000 },
      (_, index) => `sk-live-common-prefix-${index}-${'x'.repeat(index % 40)}y`,
    );
    const registry = registryOf(...secrets);
    for (const secret of secrets.filter((_, index) => index % 97 === 0)) {
      expect(registry.redact(`key ${secret} end`)).toBe('key *** end');
    }
  });
});

describe('encoded forms', () => {
  const everyWay: [string, string][] = [
    ['URL component', encodeURIComponent(CANARY)],
    ['lower-case percent escapes', encodeURIComponent(CANARY).replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())],
    ['form body', new URLSearchParams({ v: CANARY }).toString().slice(2)],
    ['URL that escapes only what it must', encodeURI(CANARY)],
    ['every byte escaped', Buffer.from(CANARY).toString('hex').replaceAll(/../g, '%$&')],
    ['JSON string', JSON.stringify(CANARY).slice(1, -1)],
    ['JSON with unicode escapes', CANARY.replaceAll('/', String.raw`\u002f`).replaceAll('"', String.raw`\"`)],
    ['base64', Buffer.from(CANARY).toString('base64')],
    ['base64url', Buffer.from(CANARY).toString('base64url')],
    ['percent-escaped base64', encodeURIComponent(Buffer.from(CANARY).toString('base64'))],
  ];

  test.each(everyWay)('%s', (_case, encoded) => {
    expect(registryOf(CANARY).redact(`<${encoded}>`)).toBe('<***>');
  });

  test.each(['u:', 'us:', 'usr:'])('base64 of a longer text that starts with %s goes as a whole', (user) => {
    const basic = Buffer.from(`${user}${CANARY} and more`).toString('base64');
    expect(registryOf(CANARY).redact(`sent ${basic} to host`)).toBe('sent *** to host');
  });

  test('letters outside ASCII are found raw, percent-escaped and in base64', () => {
    const secret = 'pässwörd-ключ-🔑';
    const registry = registryOf(secret);
    expect(registry.redact(`a ${secret} b`)).toBe('a *** b');
    expect(registry.redact(`a=${encodeURIComponent(secret)}&b=1`)).toBe('a=***&b=1');
    expect(registry.redact(`x ${Buffer.from(`é${secret}`).toString('base64')} y`)).toBe('x *** y');
  });

  test('a broken escape neither throws nor hides the secret beside it', () => {
    expect(registryOf('s3cr3t-one').redact(String.raw`%zz%E0%41 s3cr3t%2done \u00 \x`)).toBe(
      String.raw`%zz%E0%41 *** \u00 \x`,
    );
  });

  test('blanks become plus signs in forms', () => {
    expect(registryOf('correct horse battery').redact('p=correct+horse+battery&q')).toBe('p=***&q');
  });

  test('a line of a private key is a secret of its own', () => {
    const body = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'Z2l2ZXMgYXdheSBldmVyeXRoaW5nIQ=='];
    const registry = registryOf(`-----BEGIN PRIVATE KEY-----\n${body.join('\n')}\n-----END PRIVATE KEY-----\n`);
    expect(registry.redact(`2: ${body[1]}`)).toBe('2: ***');
    expect(registry.redact('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----');
  });
});

describe('cut-off values', () => {
  const secret = 'correct-horse-battery-staple';

  test.each([0.5, 0.6, 0.75, 0.9])('a value cut after %d of its length leaves nothing readable', (share) => {
    const kept = secret.slice(0, Math.ceil(secret.length * share));
    expect(registryOf(secret).redact(`value ${kept}... is not valid`)).toBe('value ***... is not valid');
  });

  test.each([0.5, 0.75, 0.95])('the last %d of a value leaves nothing readable', (share) => {
    const kept = secret.slice(-Math.ceil(secret.length * share));
    expect(registryOf(secret).redact(`…${kept} end`)).toBe('…*** end');
  });

  test('a whole value next to other text does not swallow that text', () => {
    expect(registryOf(secret).redact(`/hooks/${secret}/run?x=${secret}.json`)).toBe('/hooks/***/run?x=***.json');
  });

  test('of a value split in two at any place, the longer piece is masked', () => {
    const registry = registryOf(secret);
    for (let at = 1; at < secret.length; at += 1) {
      const longer = at * 2 >= secret.length ? secret.slice(0, at) : secret.slice(at);
      expect(registry.redact(longer)).toBe('***');
    }
  });

  test('a secret that is the half of another does not leave the rest of the other', () => {
    const registry = registryOf('abcdefgh', 'abcdefghijklmnop');
    expect(registry.redact('-abcdefghijkl-')).toBe('-***-');
  });

  test('a half shared by several secrets does not leave the rest of any', () => {
    const registry = registryOf('common-half-of-itAAAAAAAAAAAAAA', 'common-half-of-itBBBBBBBBBBBBBB');
    expect(registry.redact('x common-half-of-itBBBBB')).toBe('x ***');
  });
});

describe('unregistered credentials in text', () => {
  const { redact } = createSecretRegistry();

  test.each([
    ['postgres://user:pw@host:5432/db', 'postgres://user:***@host:5432/db'],
    ['redis://:pw@host', 'redis://:***@host'],
    ['amqp://u:p@ss/w:rd@host/v', 'amqp://u:***@host/v'],
    ['two postgres://a:b@h1/x and mysql://c:d@h2', 'two postgres://a:***@h1/x and mysql://c:***@h2'],
    ['{"url":"http://a:b@h/","mail":"x@y"}', '{"url":"http://a:***@h/","mail":"x@y"}'],
    ['https://ghp_0123456789abcdef@example.test/x', 'https://***@example.test/x'],
    ['Bearer abcdef0123456789', 'Bearer ***'],
    ['authorization: Basic dXNlcjpwdw==', 'authorization: Basic ***'],
    ['Authorization: plainvalue next', 'Authorization: *** next'],
    ['Set-Cookie: _token=abc; Path=/\nNext: 1', 'Set-Cookie: ***\nNext: 1'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!', 'jwt ***!'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx', 'jwt ***'],
    ['host=h password=hunter2 user=u', 'host=h password=*** user=u'],
    ['/cb?access_token=abc&x=1', '/cb?access_token=***&x=1'],
    ['PGPASSWORD="two words" psql', 'PGPASSWORD="***" psql'],
    ['body {"api_key": "a\\"b", "x": "y"}', 'body {"api_key": "***", "x": "y"}'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each([
    'see https://host.test/docs/a@b',
    'http://localhost:8080/users/a@b.test',
    'git clone ssh://git@host.test/repo',
    'mail a@b.test, time 12:30, ratio a=b',
    'the token expired; no password given',
    'eyJ is how such tokens start',
  ])('ordinary text stays readable: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('masking twice changes nothing more', () => {
    const once = redact('postgres://u:p@h Bearer abcdefgh123 token=x');
    expect(redact(once)).toBe(once);
  });
});

describe('values inside objects', () => {
  test('sensitive names hide their value, whole, at every depth; other fields hide known values', () => {
    const { redactDeep } = registryOf('s3cr3t-one');
    expect(
      redactDeep({
        host: 'h',
        Password: 'p',
        extra: [{ apiKey: { a: 1 }, note: 'uses s3cr3t-one' }],
        's3cr3t-one': 1,
        headers: { cookie: 'c', 'X-Api-Key': 'k' },
        token: null,
        has_password: true,
      }),
    ).toEqual({
      host: 'h',
      Password: '***',
      extra: [{ apiKey: '***', note: 'uses ***' }],
      '***': 1,
      headers: { cookie: '***', 'X-Api-Key': '***' },
      token: null,
      has_password: true,
    });
  });

  test('environment lists name the secret in one field and hold it in another', () => {
    const { redactDeep } = createSecretRegistry();
    expect(
      redactDeep([
        { name: 'DB_PASSWORD', value: 'x' },
        { name: 'HOME', value: '/' },
      ]),
    ).toEqual([
      { name: 'DB_PASSWORD', value: '***' },
      { name: 'HOME', value: '/' },
    ]);
  });

  test('errors keep type, code and causes, with every message and stack masked', () => {
    const { redactDeep } = registryOf('s3cr3t-one');
    const cause = Object.assign(new TypeError('inner s3cr3t-one'), { code: 'E1', detail: 'key s3cr3t-one' });
    const error = new AggregateError([new Error('part s3cr3t-one')], 'outer s3cr3t-one', { cause });
    const copy = redactDeep(error);
    expect(copy).toMatchObject({
      type: 'AggregateError',
      message: 'outer ***',
      cause: { type: 'TypeError', message: 'inner ***', code: 'E1', detail: 'key ***' },
      errors: [{ message: 'part ***' }],
    });
    expect(JSON.stringify(copy)).not.toContain('s3cr3t');
  });

  test('maps, sets, dates, URLs, bytes, bigints, cycles and hostile objects become harmless JSON', () => {
    const { redactDeep } = registryOf('s3cr3t-one', '123456789012');
    const loop: Record<string, unknown> = { when: new Date(0), url: new URL('http://u:pw@h/s3cr3t-one') };
    loop['self'] = loop;
    const copy = redactDeep({
      map: new Map([
        ['password', 'x'],
        ['a', 's3cr3t-one'],
      ]),
      set: new Set(['s3cr3t-one']),
      bytes: Buffer.from('s3cr3t-one'),
      big: 123456789012n,
      loop,
      custom: { toJSON: () => 's3cr3t-one' },
      hostile: {
        get x() {
          throw new Error('no');
        },
      },
      fn: () => 's3cr3t-one',
      ['__proto__']: 'x',
    });
    expect(JSON.parse(JSON.stringify(copy))).toEqual({
      map: { password: '***', a: '***' },
      set: ['***'],
      bytes: '[10 bytes]',
      big: '***',
      loop: { when: '1970-01-01T00:00:00.000Z', url: 'http://u:***@h/***', self: '[circular]' },
      custom: '***',
      hostile: '[unreadable]',
      ['__proto__']: 'x',
    });
  });
});

describe('secrets that pass through', () => {
  test('are masked while they are recent, and do not pile up', () => {
    const registry = createSecretRegistry();
    registry.add('configured-for-good');
    registry.addPassing('came-with-a-request');
    expect(registry.redact('x came-with-a-request y configured-for-good')).toBe('x *** y ***');
    const big = (index: number) => `${index}-`.repeat(20_000);
    for (let index = 0; index < 200; index += 1) registry.addPassing(big(index));
    expect(registry.redact('x came-with-a-request y configured-for-good')).toBe('x came-with-a-request y ***');
    expect(registry.redact(`newest ${big(199)}`)).toBe('newest ***');
  });
});
