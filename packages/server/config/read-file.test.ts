import { describe, expect, test } from 'vitest';
import { readYaml } from './read-file.ts';
import type { SourceReading } from './sources.ts';

function read(text: string): SourceReading {
  return readYaml({ file: 'server.yaml', text });
}

function messages(text: string): string[] {
  return read(text).problems.map((problem) => problem.message);
}

describe('what a file may look like', () => {
  test.each(['', '# only a comment\n', 'server:\n', 'server:\n  http_addr:\n', '---\nserver: ~\n', '{}'])(
    '%j sets nothing and is fine',
    (text) => {
      expect(read(text)).toEqual({ settings: [], problems: [], warnings: [] });
    },
  );

  test('scalars keep their spelling: digits of a secret, yes, and fractions', () => {
    const text =
      'auth: {jwt: {secret: 000123}}\nscheduler: {enabled: yes}\nexecutor: {defaults: {resources: {cpu: 1.50}}}\nui: {"edition": "pro"}\n';
    expect(read(text).settings.map(({ raw }) => raw)).toEqual([
      { kind: 'text', text: '000123' },
      { kind: 'text', text: 'yes' },
      { kind: 'text', text: '1.50' },
      { kind: 'text', text: 'pro' },
    ]);
  });

  test('anchors and aliases work for values and for sections', () => {
    const text =
      'server: {grpc_addr: &a ":1", metrics_addr: *a}\nauth:\n  oidc: {role_mappings: &m {x: y}, tenant_claims: *m}\n';
    const { settings, problems } = read(text);
    expect(problems).toEqual([]);
    expect(settings.map(({ key, raw }) => [key, raw.kind])).toEqual([
      ['server.grpc_addr', 'text'],
      ['server.metrics_addr', 'text'],
      ['auth.oidc.role_mappings', 'map'],
      ['auth.oidc.tenant_claims', 'map'],
    ]);
  });

  test('each setting knows its line and column', () => {
    const text = 'server:\n  role: all\n\nlogs:\n  sink:\n    bucket: b\n';
    expect(read(text).settings.map(({ origin }) => origin)).toEqual(['server.yaml:2:3', 'server.yaml:6:5']);
  });
});

describe('what is reported', () => {
  test.each([
    ['server:\n  http_adr: :1\n', 'server.yaml:2:3: unknown key "server.http_adr"; did you mean server.http_addr?'],
    ['http_addr: :1\n', 'server.yaml:1:1: unknown key "http_addr"; did you mean server.http_addr?'],
    ['sever: {http_addr: x}\n', 'server.yaml:1:1: unknown key "sever"; did you mean server?'],
    ['auth:\n  jwt:\n    scret: x\n', 'server.yaml:3:5: unknown key "auth.jwt.scret"; did you mean auth.jwt.secret?'],
    ['server:\n  http-addr: x\n', 'server.yaml:2:3: unknown key "server.http-addr"; did you mean server.http_addr?'],
    ['server: {<<: {role: all}}\n', 'server.yaml:1:10: unknown key "server.<<"; did you mean server?'],
    [
      'server.http_addr: :1\n',
      'server.yaml:1:1: unknown key "server.http_addr"; sections are nested, not dotted; did you mean server: {http_addr: …}?',
    ],
    ['server: 8080\n', 'server.yaml:1:1: server is a section; allowed: a map of keys, such as server: {role: …}'],
    [
      'auth: {jwt: [x]}\n',
      'server.yaml:1:8: auth.jwt is a section; allowed: a map of keys, such as auth: {jwt: {secret: …}}',
    ],
    ['- server\n', 'server.yaml:1:1: the file must be a map of sections, such as "server:"'],
    ['just text\n', 'server.yaml:1:1: the file must be a map of sections, such as "server:"'],
    ['logs: {dir: [a]}\n', 'server.yaml:1:8: logs.dir is "(a list)"; allowed: any text that is not empty'],
    ['logs: {dir: {a: b}}\n', 'server.yaml:1:8: logs.dir is "(a map)"; allowed: any text that is not empty'],
    [
      'server: {trusted_proxies: 10.0.0.1}\n',
      'server.yaml:1:10: server.trusted_proxies is "10.0.0.1"; allowed: a list of texts',
    ],
    [
      'auth: {oidc: {scopes: [[openid]]}}\n',
      'server.yaml:1:15: auth.oidc.scopes is "(a list)"; allowed: a list of scope names without spaces, one per entry',
    ],
    [
      'auth: {oidc: {role_mappings: {a: [b]}}}\n',
      'server.yaml:1:15: auth.oidc.role_mappings is "(a map)"; allowed: a map of names to texts',
    ],
    ['ui: {edition: *nowhere}\n', 'server.yaml:1:15: not valid YAML: no anchor &nowhere before this alias'],
  ])('%j', (text, message) => {
    expect(messages(text)).toEqual([message]);
  });

  test('a key set twice is an error, and not the last one silently', () => {
    expect(messages('server:\n  role: all\n  role: api\n')).toEqual([
      'server.yaml:3:3: not valid YAML: Map keys must be unique',
    ]);
    expect(messages('server: {role: all}\nserver: {role: api}\n')).toEqual([
      'server.yaml:2:1: not valid YAML: Map keys must be unique',
    ]);
  });

  test('broken syntax, two documents and tabs are errors with a place', () => {
    for (const text of ['server: [', 'server: {}\n---\nserver: {}\n', 'server:\n\trole: all\n', 'a: b: c\n']) {
      const found = messages(text);
      expect(found.length).toBeGreaterThan(0);
      expect(found.every((message) => /^server\.yaml:\d+:\d+: not valid YAML: /.test(message))).toBe(true);
    }
  });

  test('an unknown tag is a warning', () => {
    const { warnings, settings } = read('ui: {edition: !env EDITION}\n');
    expect(warnings).toEqual([expect.stringMatching(/^server\.yaml:1:15: Unresolved tag: !env/)]);
    expect(settings).toHaveLength(1);
  });

  test('a file of brackets that overflows the parser is reported and does not crash', () => {
    for (const text of ['['.repeat(20_000), '- '.repeat(20_000), `${'['.repeat(20_000)}${']'.repeat(20_000)}`]) {
      expect(messages(text)[0]).toContain('not valid YAML: Maximum call stack size exceeded');
    }
  });

  test('a section that contains itself does not loop', () => {
    expect(messages('server: &s {cors: *s}\n').length).toBeGreaterThan(0);
  });
});
