import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Check } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkBoot } from '../boot-checks.ts';
import { configJsonSchema, renderJsonSchema } from '../json-schema.ts';
import { configKeys, definitionOf, variableOf } from '../keys.ts';
import { loadConfig } from '../load.ts';
import { EXAMPLE_YAML, renderReference } from './reference.ts';

function committed(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../../../docs', name), 'utf8');
}

function loads(yaml: string): boolean {
  try {
    loadConfig({ file: 'server.yaml', env: {}, readFile: () => yaml });
    return true;
  } catch {
    return false;
  }
}

describe('the committed pages', () => {
  test('configuration.md is what the table says; otherwise run npm run docs', () => {
    expect(committed('configuration.md')).toBe(renderReference());
  });

  test('patterns have nothing that Go’s expressions lack: Helm reads them, and refuses the whole chart otherwise', () => {
    const patterns = [...renderJsonSchema().matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '']) => JSON.parse(text) as string,
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((pattern) => /\(\?[=!<]|\\[1-9k]/.test(pattern))).toEqual([]);
  });

  test('configuration.schema.json is what the table says; otherwise run npm run docs', () => {
    expect(committed('configuration.schema.json')).toBe(renderJsonSchema());
  });
});

describe('the page', () => {
  const page = renderReference();
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));

  test('has one row of six cells per key', () => {
    expect(rows).toHaveLength(configKeys.length);
    expect(rows.filter((row) => row.split(/(?<!\\)\|/).length !== 8)).toEqual([]);
  });

  test('marks extensions and tells which keys have no variable', () => {
    for (const key of configKeys) {
      const row = rows.find((line) => line.startsWith(`| \`${key}\``)) ?? '';
      const definition = definitionOf(key);
      expect(row.startsWith(`| \`${key}\` † |`)).toBe(definition.extension === true);
      const hasVariable = !['list', 'map'].includes(definition.type) || 'fromEnvironment' in definition;
      expect(row.includes(`| \`${variableOf(key)}\` |`)).toBe(hasVariable);
    }
  });

  test('its example loads and boots with the three secrets it names', () => {
    const env = {
      SVC_AUTH_JWT_SECRET: 'j'.repeat(32),
      SVC_SECRET_KEY: 'k'.repeat(32),
      SVC_AUTH_OIDC_CLIENT_SECRET: 'c',
    };
    const { config, warnings } = loadConfig({ file: 'server.yaml', env, readFile: () => EXAMPLE_YAML });
    expect(warnings).toEqual([]);
    expect(checkBoot(config, {})).toEqual({ errors: [], warnings: [] });
    expect(page).toContain(EXAMPLE_YAML);
  });
});

describe('the schema', () => {
  const schema = configJsonSchema();
  const accepts = (yaml: string): boolean => Check(schema, parse(yaml));

  test('accepts the example', () => {
    expect(accepts(EXAMPLE_YAML)).toBe(true);
  });

  test('accepts every default', () => {
    const refused = configKeys.filter((key) => {
      const parts = key.split('.');
      const value = JSON.stringify(definitionOf(key).default);
      return !accepts(`${parts.join(': {')}: ${value}${'}'.repeat(parts.length - 1)}`);
    });
    expect(refused).toEqual([]);
  });

  // Editors that accept what the server refuses, or mark what it accepts, are worse than no schema.
  test.each([
    ['server: {http_addr: ":80"}', true],
    ['server: {http_adr: ":80"}', false],
    ['server: {http_addr: 80}', false],
    ['server:', true],
    ['server: {role: }', true],
    ['server: {role: ""}', true],
    ['server: {role: worker}', false],
    ['server: []', false],
    ['servr: {}', false],
    ['database: {max_open_conns: 0}', false],
    ['database: {max_open_conns: 10}', true],
    ['database: {url: ""}', false],
    ['database: {url: "mysql://x"}', false],
    ['scheduler: {enabled: yes}', true],
    ['scheduler: {enabled: maybe}', false],
    ['auth: {jwt: {secret: ""}}', true],
    ['auth: {max_attempt_credential_lifetime: 1h30m}', true],
    ['auth: {max_attempt_credential_lifetime: -1}', true],
    ['auth: {max_attempt_credential_lifetime: soon}', false],
    ['execution: {worker_idle_ttl: 0}', false],
    ['auth: {oidc: {role_mappings: {a: b}}}', true],
    ['auth: {oidc: {role_mappings: [a]}}', false],
    ['auth: {oidc: {tenant_claim: hd}}', true],
    ['server: {trusted_proxies: [10.0.0.1]}', true],
    ['server: {trusted_proxies: 10.0.0.1}', false],
    ['server: {cors: {allowed_origins: ["*"]}}', false],
    ['observability: {log_level: warning}', true],
    ['executor: {defaults: {resources: {cpu: 1}}}', true],
    ['executor: {agent_control_plane_addr: ""}', true],
  ])('agrees with the loader on %s', (yaml, expected) => {
    expect({ schema: accepts(yaml), loader: loads(yaml) }).toEqual({ schema: expected, loader: expected });
  });
});
