import { describe, expect, test } from 'vitest';
import type { KeyDefinition } from './key-definition.ts';
import { definitionOf } from './keys.ts';
import type { ConfigKey } from './keys.ts';
import { allowedFor, parseValue } from './parse-value.ts';

function parse(key: ConfigKey, text: string): unknown {
  const outcome = parseValue(definitionOf(key), { kind: 'text', text });
  return outcome.ok ? outcome.value : { refused: outcome.allowed };
}

describe('booleans', () => {
  test.each(['true', '1', 'yes', 'on', 'TRUE', ' Yes '])('%j is true', (text) => {
    expect(parse('auth.dev_no_auth', text)).toBe(true);
  });
  test.each(['false', '0', 'no', 'off', 'FALSE'])('%j is false', (text) => {
    expect(parse('auth.dev_no_auth', text)).toBe(false);
  });
  test.each(['', 'y', 'enabled', '2', 'tru'])('%j is refused and not guessed', (text) => {
    expect(parse('auth.dev_no_auth', text)).toEqual({ refused: 'true or false (also 1/0, yes/no, on/off)' });
  });
});

describe('integers', () => {
  test.each([
    ['25', 25],
    ['+1', 1],
    [' 7 ', 7],
    ['2147483647', 2_147_483_647],
  ])('%j', (text, value) => {
    expect(parse('database.max_open_conns', text)).toBe(value);
  });
  test.each(['', '0', '-1', '1.5', '1e3', '0x10', '25 conns', '2147483648', '1_000', 'NaN', '9'.repeat(400)])(
    '%j is refused, naming the range',
    (text) => {
      expect(parse('database.max_open_conns', text)).toEqual({ refused: 'a whole number from 1 to 2147483647' });
    },
  );
  test('a ceiling that non-positive values disable accepts them', () => {
    expect(parse('auth.jwt.max_lifetime_seconds', '0')).toBe(0);
    expect(parse('auth.jwt.max_lifetime_seconds', '-1')).toBe(-1);
    expect(Object.is(parse('auth.jwt.max_lifetime_seconds', '-0'), 0)).toBe(true);
  });
});

describe('enums', () => {
  test('an empty role means all', () => {
    expect(parse('server.role', '')).toBe('all');
  });
  test('an empty tenant claim stays empty', () => {
    expect(parse('auth.oidc.tenant_claim', '')).toBe('');
    expect(parse('auth.oidc.tenant_claim', 'hd')).toBe('hd');
    expect(parse('auth.oidc.tenant_claim', 'org')).toEqual({ refused: 'empty, tid, hd' });
  });
  test('the case of letters does not matter, and the canonical spelling results', () => {
    expect(parse('executor.defaults.staging.access_mode', 'readwriteonce')).toBe('ReadWriteOnce');
    expect(parse('observability.log_format', 'JSON')).toBe('json');
  });
  test('an empty value is refused where it has no meaning', () => {
    expect(parse('observability.log_format', '')).toEqual({ refused: 'json, text' });
  });
  test('log level: warning is warn, and an unknown level falls back to info with a warning', () => {
    expect(parse('observability.log_level', 'warning')).toBe('warn');
    expect(parse('observability.log_level', 'DEBUG')).toBe('debug');
    const outcome = parseValue(definitionOf('observability.log_level'), { kind: 'text', text: 'verbose' });
    expect(outcome).toEqual({
      ok: true,
      value: 'info',
      warning: 'falls back to info; allowed: debug, info, warn, error',
    });
  });
  test('names of object members are not values', () => {
    expect(parse('auth.provider', 'constructor')).toEqual({ refused: 'jwt, oidc' });
    expect(parse('observability.log_level', '__proto__')).toBe('info');
  });
});

describe('texts', () => {
  test.each<[ConfigKey, string]>([
    ['database.url', 'postgresql://u@h/db'],
    ['redis.url', 'rediss://:pw@store:6380/0'],
    ['redis.ca_file', '/etc/ca.pem'],
    ['executor.defaults.resources.cpu', '250m'],
    ['executor.defaults.resources.cpu', '1'],
    ['executor.defaults.resources.memory', '1.5Gi'],
    ['executor.defaults.staging.size', '10Gi'],
    ['observability.otel.endpoint', 'http://collector:4317'],
    ['server.base_url', 'https://flows.example.com/svc/'],
    ['auth.bootstrap.email', 'admin@localhost'],
  ])('%s takes %s', (key, text) => {
    expect(parse(key, text)).toBe(text);
  });

  test.each<[ConfigKey, string, string]>([
    ['database.url', 'mysql://u@h/db', 'a URL starting with postgres:// or postgresql://'],
    ['redis.url', 'store:6379', 'a URL starting with redis:// or rediss://'],
    ['redis.ca_file', 'ca.pem', 'an absolute path'],
    ['executor.defaults.resources.cpu', '250 m', 'a quantity such as 250m'],
    ['executor.defaults.resources.memory', '256MB', 'a quantity such as 256Mi'],
    ['executor.task_namespace', 'Svc', 'a namespace name (lower-case letters, digits and dashes, at most 63)'],
    ['observability.otel.endpoint', 'collector', 'host:port, or an http or https URL'],
    [
      'server.base_url',
      'flows.example.com',
      'an http or https URL without query, such as https://flows.example.com/svc',
    ],
    ['auth.bootstrap.email', 'admin', 'an email address'],
    ['auth.bootstrap.email', 'a@b@c', 'an email address'],
    ['executor.http_user_agent', 'svc\r\nX-Injected: 1', 'printable ASCII characters'],
  ])('%s refuses %j', (key, text, allowed) => {
    expect(parse(key, text)).toEqual({ refused: allowed });
  });

  test('empty is refused where the default is not empty, and means "none" where it is', () => {
    expect(parse('database.url', '')).toEqual({ refused: 'a URL starting with postgres:// or postgresql://' });
    expect(parse('logs.dir', ' ')).toEqual({ refused: 'any text that is not empty' });
    expect(parse('redis.url', '')).toBe('');
  });
});

describe('secrets', () => {
  test('an empty one loads, so that a configuration without secrets can be shown', () => {
    expect(parse('auth.jwt.secret', '')).toBe('');
  });
  test('the line break at the end of a mounted file is no part of it', () => {
    expect(parse('auth.jwt.secret', `${'x'.repeat(32)}\n`)).toBe('x'.repeat(32));
  });
  test('spaces inside and around a secret are kept', () => {
    expect(parse('auth.bootstrap.password', ' pass word ')).toBe(' pass word ');
  });
});

describe('JSON, durations, lists and maps', () => {
  test('backend arguments must be a JSON object and are kept verbatim', () => {
    expect(parse('secrets.backend_kwargs', '{ "a": 1 }')).toBe('{ "a": 1 }');
    for (const text of ['[1]', 'null', '"x"', '{a: 1}', '{']) {
      expect(parse('secrets.backend_kwargs', text)).toHaveProperty('refused');
    }
  });

  test('a duration names its bounds', () => {
    expect(parse('execution.worker_idle_ttl', '0')).toEqual({
      refused: 'a duration such as 24h, 1h30m, 90s or 500ms (a plain number is seconds), at least 1ms',
    });
    expect(parse('database.statement_timeout', '600h')).toHaveProperty(
      'refused',
      expect.stringContaining('at most 596h'),
    );
    expect(parse('auth.max_attempt_credential_lifetime', '-1')).toBe(-1000);
  });

  test('list entries are trimmed, empty ones dropped, bad ones refused', () => {
    const origins = definitionOf('server.cors.allowed_origins');
    expect(parseValue(origins, { kind: 'list', items: [' https://a.example ', ''] })).toEqual({
      ok: true,
      value: ['https://a.example'],
    });
    const bad = ['*', 'a.example', 'https://a.example/', 'https://a.example/x', 'https://u@a.example'];
    expect(bad.filter((item) => parseValue(origins, { kind: 'list', items: [item] }).ok)).toEqual([]);
    const domains = definitionOf('auth.oidc.allowed_email_domains');
    expect(parseValue(domains, { kind: 'list', items: ['@example.com'] })).toHaveProperty('ok', false);
  });

  test('a map has no prototype, so that a group called "constructor" is granted nothing', () => {
    const roles = definitionOf('auth.oidc.role_mappings');
    const outcome = parseValue(roles, {
      kind: 'map',
      pairs: [
        ['__proto__', 'admin'],
        ['dev', 'viewer'],
      ],
    });
    const map = (outcome.ok ? outcome.value : {}) as Record<string, string>;
    expect(map['constructor']).toBeUndefined();
    expect(map['toString']).toBeUndefined();
    expect(Object.keys(map)).toEqual(['__proto__', 'dev']);
    expect(parseValue(roles, { kind: 'map', pairs: [['dev', ' ']] })).toHaveProperty('ok', false);
  });

  test('a value of the wrong shape is refused by every type', () => {
    const definitions: KeyDefinition[] = [
      definitionOf('server.trusted_proxies'),
      definitionOf('auth.oidc.role_mappings'),
    ];
    for (const definition of definitions) {
      expect(parseValue(definition, { kind: 'text', text: 'x' })).toEqual({
        ok: false,
        allowed: allowedFor(definition),
      });
    }
    expect(parseValue(definitionOf('logs.dir'), { kind: 'list', items: ['x'] })).toHaveProperty('ok', false);
  });
});
