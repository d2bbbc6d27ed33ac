import { describe, expect, it } from 'vitest';
import { configKeys } from '@svc/server/config/keys.ts';
import type { ConfigKey } from '@svc/server/config/keys.ts';
import { OWN_VALUES, chartSchema, inConfig, isSecretKey } from './schema.ts';

type Node = { properties?: Record<string, Node> };
const { config, secretConfig } = (chartSchema() as Node).properties ?? {};

const has = (root: Node | undefined, key: ConfigKey): boolean => {
  const leaf = key.split('.').reduce<Node | undefined>((node, name) => node?.properties?.[name], root);
  return leaf !== undefined && leaf.properties === undefined;
};

describe('the values of the chart', () => {
  it('have every key of the configuration, in one place', () => {
    const places = configKeys.map((key) => [
      key,
      [has(config, key), has(secretConfig, key), OWN_VALUES[key] !== undefined].filter(Boolean).length,
    ]);
    expect(places.filter(([, count]) => count !== 1)).toEqual([]);
  });

  it('keep secrets and URLs with passwords out of the config map', () => {
    const secrets: ConfigKey[] = ['auth.jwt.secret', 'secret_key', 'database.url', 'auth.oidc.client_secret'];
    expect(secrets.filter((key) => !isSecretKey(key) || inConfig(key) || has(config, key))).toEqual([]);
  });
});
