import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { configKeys, definitionOf, flagOf, variableOf } from './keys.ts';
import { loadConfig } from './load.ts';
import type { LoadedConfig } from './load.ts';

interface Sources {
  yaml?: string;
  env?: Record<string, string>;
  flags?: Record<string, string | string[]>;
}

function load(sources: Sources): LoadedConfig {
  const { yaml, env = {}, flags = {} } = sources;
  return loadConfig({ file: yaml === undefined ? undefined : 'server.yaml', env, flags, readFile: () => yaml ?? '' });
}

function problemsOf(sources: Sources): string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) {
      return error.problems.map((problem) => problem.message);
    }
    throw error;
  }
  return [];
}

function entryOf(loaded: LoadedConfig, key: string): unknown {
  return loaded.entries.find((entry) => entry.key === key);
}

const YAML = 'server:\n  metrics_addr: :1\n';
const ENV = { SVC_SERVER_METRICS_ADDR: ':2' };
const FLAGS = { 'server.metrics-addr': ':3' };

describe('precedence', () => {
  test.each<[string, Sources, string, string, string]>([
    ['nothing', {}, '0.0.0.0:9090', 'default', 'built-in'],
    ['file', { yaml: YAML }, ':1', 'file', 'server.yaml:2:3'],
    ['environment', { env: ENV }, ':2', 'env', 'SVC_SERVER_METRICS_ADDR'],
    ['flag', { flags: FLAGS }, ':3', 'flag', '--server.metrics-addr'],
    ['file and environment', { yaml: YAML, env: ENV }, ':2', 'env', 'SVC_SERVER_METRICS_ADDR'],
    ['file and flag', { yaml: YAML, flags: FLAGS }, ':3', 'flag', '--server.metrics-addr'],
    ['environment and flag', { env: ENV, flags: FLAGS }, ':3', 'flag', '--server.metrics-addr'],
    ['all three', { yaml: YAML, env: ENV, flags: FLAGS }, ':3', 'flag', '--server.metrics-addr'],
  ])('%s', (_name, sources, value, source, origin) => {
    const loaded = load(sources);
    expect(loaded.config.server.metricsAddr).toBe(value);
    expect(entryOf(loaded, 'server.metrics_addr')).toEqual({ key: 'server.metrics_addr', value, source, origin });
  });

  test('a list of a stronger source replaces the weaker one whole', () => {
    const yaml = 'server:\n  trusted_proxies: [10.0.0.1, 10.0.0.2]\n';
    expect(load({ yaml, env: { SVC_SERVER_TRUSTED_PROXIES: '10.9.9.9' } }).config.server.trustedProxies).toEqual([
      '10.9.9.9',
    ]);
  });

  test('an explicit false in the environment overrules true in the file', () => {
    const loaded = load({ yaml: 'scheduler: {enabled: true}', env: { SVC_SCHEDULER_ENABLED: 'false' } });
    expect(loaded.config.scheduler.enabled).toBe(false);
  });

  test('an empty flag overrules a text, which an empty variable does not', () => {
    const yaml = 'redis: {url: "redis://a"}';
    expect(load({ yaml, env: { SVC_REDIS_URL: '' } }).config.redis.url).toBe('redis://a');
    expect(load({ yaml, flags: { 'redis.url': '' } }).config.redis.url).toBe('');
  });

  test('every key can be set by the file and by its flag, and every scalar by its variable', () => {
    const samples: Record<string, string> = {
      bool: 'true',
      duration: '77s',
      address: '127.0.0.1:77',
      json: '{"a":"b"}',
      secret: 'x'.repeat(40),
    };
    for (const key of configKeys) {
      const definition = definitionOf(key);
      if (definition.type === 'list' || definition.type === 'map') {
        continue;
      }
      const isFree = definition.type === 'string' && definition.pattern === undefined;
      const least = definition.type === 'int' ? String(Math.max(77, definition.min ?? 77)) : undefined;
      const text =
        definition.type === 'enum'
          ? definition.values.at(-1)
          : isFree
            ? 'some text'
            : (least ?? samples[definition.type]);
      // Texts with a pattern have their own samples in parse-value.test.ts; their default is one too.
      const sample = text ?? String(definition.default);
      const parts = key.split('.');
      const yaml = `${parts.join(': {')}: ${JSON.stringify(sample)}${'}'.repeat(parts.length - 1)}`;
      const variable = variableOf(key);
      const results = [load({ yaml }), load({ flags: { [flagOf(key)]: sample } })];
      if (sample !== '') {
        results.push(load({ env: { [variable]: sample } }));
      }
      const seen = results.map((loaded) => loaded.entries.find((entry) => entry.key === key));
      expect(seen.map((entry) => entry?.source)).toEqual(['file', 'flag', 'env'].slice(0, seen.length));
      expect(new Set(seen.map((entry) => entry?.value)).size).toBe(1);
    }
  });
});

describe('errors', () => {
  test('a bad value names place, key, value and what is allowed', () => {
    expect(problemsOf({ env: { SVC_SERVER_ROLE: 'worker' } })).toEqual([
      'SVC_SERVER_ROLE: server.role is "worker"; allowed: all, api, scheduler',
    ]);
    expect(problemsOf({ yaml: 'database:\n  max_open_conns: many\n' })).toEqual([
      'server.yaml:2:3: database.max_open_conns is "many"; allowed: a whole number from 1 to 2147483647',
    ]);
    expect(problemsOf({ flags: { 'execution.worker_idle_ttl': 'soon' } })).toEqual([
      '--execution.worker-idle-ttl: execution.worker_idle_ttl is "soon"; allowed: a duration such as 24h, 1h30m, 90s or 500ms (a plain number is seconds), at least 1ms',
    ]);
    expect(problemsOf({ flags: { 'server.cors.allowed-origins': 'https://a.example,*' } })).toEqual([
      '--server.cors.allowed-origins: server.cors.allowed_origins is "https://a.example,*"; allowed: a list of origins such as https://ui.example.com (scheme, host and optional port, no path, no wildcard)',
    ]);
  });

  test('all problems of all sources come at once', () => {
    const error = (() => {
      try {
        return load({ yaml: 'servr: {}', env: { SVC_LOGS_BACKEND: 'tape' }, flags: { 'ui.editon': 'pro' } });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toBe(
      [
        'the configuration has 3 problems:',
        '  server.yaml:1:1: unknown key "servr"; did you mean server?',
        '  --ui.editon: unknown key "ui.editon"; did you mean --ui.edition?',
        '  SVC_LOGS_BACKEND: logs.backend is "tape"; allowed: disk, objstore, cloudstore',
      ].join('\n'),
    );
  });

  test('a bad value in the file is reported even while the environment overrules it', () => {
    expect(problemsOf({ yaml: 'logs: {backend: tape}', env: { SVC_LOGS_BACKEND: 'disk' } })).toHaveLength(1);
  });

  test('a secret is never repeated in an error, nor is the password of a URL', () => {
    const messages = [
      ...problemsOf({ env: { SVC_DATABASE_URL: 'mysql://u:hunter2@h/db' } }),
      ...problemsOf({ env: { SVC_DATABASE_URL: 'hunter2' } }),
      ...problemsOf({ env: { SVC_SECRETS_BACKEND_KWARGS: '{"token": hunter2}' } }),
      ...problemsOf({ flags: { 'auth.jwt.secret': ['hunter2', 'hunter2'] } }),
      ...problemsOf({ yaml: 'auth: {jwt: {secret: [hunter2]}}' }),
      ...problemsOf({ yaml: 'auth: {jwt: {secrte: hunter2}}' }),
    ];
    expect(messages).toHaveLength(6);
    expect(messages.join('\n')).not.toContain('hunter2');
    expect(messages[0]).toContain('"mysql://u:***@h/db"');
  });

  test('a value cannot forge lines of output, and a huge one is cut', () => {
    const [message = ''] = problemsOf({ env: { SVC_LOGS_BACKEND: `x\nall is well${'y'.repeat(5000)}` } });
    expect(message).not.toContain('\n');
    expect(message.length).toBeLessThan(300);
  });

  test('any garbage from any source ends in a configuration or in a ConfigError, never in another error', () => {
    const name = fc.oneof(
      fc.constantFrom(...configKeys),
      fc.string(),
      fc.constantFrom('__proto__', 'constructor', 'a.b'),
    );
    const value = fc.oneof(fc.string(), fc.constantFrom('', '0', '-1', 'true', '[]', '{}', '::', 'a=b'));
    const scraps = fc.constantFrom(
      'server',
      'auth',
      'jwt',
      ':',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '&a',
      '*a',
      '!!int',
      '"',
      '#',
      '|',
      '<<',
      '? ',
      '---',
      '\t',
      '%',
    );
    const yaml = fc.oneof(
      fc.string(),
      fc.array(fc.oneof(scraps, name), { maxLength: 30 }).map((parts) => parts.join('')),
    );
    const env = fc.dictionary(
      name.map((key) => `SVC_${key.toUpperCase().replaceAll('.', '_')}`),
      value,
    );
    const flags = fc.dictionary(name, fc.oneof(value, fc.array(value)));
    fc.assert(
      fc.property(yaml, env, flags, (text, variables, given) => {
        expect(() => problemsOf({ yaml: text, env: variables, flags: given })).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});

describe('warnings', () => {
  test('an unknown log level falls back to info and says so', () => {
    const loaded = load({ env: { SVC_OBSERVABILITY_LOG_LEVEL: 'verbose' } });
    expect(loaded.config.observability.logLevel).toBe('info');
    expect(loaded.warnings).toEqual([
      'SVC_OBSERVABILITY_LOG_LEVEL: observability.log_level is "verbose"; falls back to info; allowed: debug, info, warn, error',
    ]);
  });

  test('a client secret in the file, and any secret on the command line, is warned about without being shown', () => {
    const loaded = load({ yaml: 'auth: {oidc: {client_secret: hunter2}}', flags: { 'secret-key': 'hunter2' } });
    expect(loaded.warnings).toEqual([
      'server.yaml:1:15: auth.oidc.client_secret should not be kept in a file; set SVC_AUTH_OIDC_CLIENT_SECRET instead',
      '--secret-key: a secret on the command line shows in process lists; set SVC_SECRET_KEY instead',
    ]);
  });

  test('an ordinary configuration has none', () => {
    expect(load({ yaml: YAML, env: { ...ENV, SVC_AUTH_JWT_SECRET: 'x'.repeat(32) }, flags: FLAGS }).warnings).toEqual(
      [],
    );
  });
});

describe('the file', () => {
  test('is found by SVC_CONFIG when no path is given, and a given path wins', () => {
    const seen: string[] = [];
    const readFile = (path: string): string => {
      seen.push(path);
      return '';
    };
    loadConfig({ env: { SVC_CONFIG: 'from-variable.yaml' }, readFile });
    loadConfig({ file: 'from-flag.yaml', env: { SVC_CONFIG: 'from-variable.yaml' }, readFile });
    expect(seen).toEqual(['from-variable.yaml', 'from-flag.yaml']);
  });

  test('that cannot be read is an error that says which setting names it', () => {
    const missing = join(tmpdir(), 'svc-no-such-directory', 'server.yaml');
    expect(() => loadConfig({ file: missing, env: {} })).toThrow(
      /server\.yaml: cannot be read \(ENOENT.*\); correct --config/,
    );
    expect(() => loadConfig({ env: { SVC_CONFIG: missing } })).toThrow(/correct SVC_CONFIG/);
  });

  test('is read from disk', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-config-'));
    try {
      const file = join(directory, 'server.yaml');
      writeFileSync(file, 'ui:\n  instance_name: Flows\n');
      expect(loadConfig({ file, env: {} }).config.ui.instanceName).toBe('Flows');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
