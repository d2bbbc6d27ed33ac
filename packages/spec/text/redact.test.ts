import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactLines, redactText, redactValue } from './redact.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSIsImV4cCI6MX0.c2lnbmF0dXJlLXNpZ25hdHVyZQ';

describe('a credential in a log', () => {
  it.each([
    ['a token', `got ${JWT} back`, 'got *** back'],
    ['a header', 'Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic ***'],
    ['a quoted header', `{'Authorization': 'Bearer abc'}`, `{'Authorization': '***'}`],
    ['a bearer alone', 'curl -H "bearer abcdefghijklmnopqrstuvwxyz"', 'curl -H "bearer ***"'],
    ['a URL', 'postgresql://etl:hunter2@db:5432/x', 'postgresql://etl:***@db:5432/x'],
    ['an assignment', 'connect(password="hunter2", user="x")', 'connect(password="***", user="x")'],
    ['an assignment without quotes', 'DB_PASSWORD=hunter2 PORT=5432', 'DB_PASSWORD=*** PORT=5432'],
    ['JSON', '{"api_key": "k-123", "n": 1}', '{"api_key": "***", "n": 1}'],
    ['a cloud key id', 'using AKIAIOSFODNN7EXAMPLE now', 'using *** now'],
  ])('%s is masked', (_name, line, expected) => {
    expect(redactText(line)).toBe(expected);
  });

  it('a private key is masked with all its lines, and nothing after it', () => {
    const lines = [
      'before',
      '-----BEGIN RSA PRIVATE KEY-----',
      'MIIEow',
      'IBAAK',
      '-----END RSA PRIVATE KEY-----',
      'after',
    ];
    expect(redactLines(lines, 'log')).toEqual(['before', '***', '***', '***', '***', 'after']);
  });
});

it.each([
  'ValueError: token expired, please log in again',
  "KeyError: 'password'",
  'Basic authentication failed for user etl',
  'secret "warehouse" not found',
  'GET https://example.com/a:b/c@d returned 404',
  'the credentials are wrong',
])('what is needed to understand a failure stays: %s', (line) => {
  expect(redactText(line)).toBe(line);
});

it('source code stays readable: an expression is not a password', () => {
  expect(redactText('conn = connect(password=Variable.get("db"), token = make_token())', 'source')).toBe(
    'conn = connect(password=Variable.get("db"), token = make_token())',
  );
  expect(redactText('PASSWORD = "hunter2"', 'source')).toBe('PASSWORD = "***"');
});

it('a value is masked with everything below a sensitive name, numbers too', () => {
  const value = {
    host: 'db',
    password: 'x',
    nested: { credentials: { user: 'a', pin: 1, list: ['b'] } },
    url: 'http://a:b@c/',
  };
  expect(redactValue(value)).toEqual({
    host: 'db',
    password: '***',
    nested: { credentials: { user: '***', pin: '***', list: ['***'] } },
    url: 'http://a:***@c/',
  });
});

it('keeps the number of lines, by which their place in the log is known', () => {
  const part = fc.constantFrom('-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'token="x"', 'plain', '');
  fc.assert(
    fc.property(fc.array(part), (lines) => {
      expect(redactLines(lines, 'log')).toHaveLength(lines.length);
    }),
  );
});
