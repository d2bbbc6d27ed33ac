import { describe, expect, test } from 'vitest';
import { checkBoot } from './boot-checks.ts';
import { configKeys, variableOf } from './keys.ts';
import { loadConfig } from './load.ts';
import { checkNotBuilt } from './not-built.ts';

const SOUND = { SVC_AUTH_JWT_SECRET: 'j'.repeat(32), SVC_SECRET_KEY: 'k'.repeat(32) };
const load = (env: Record<string, string>, flags: Record<string, string> = {}) =>
  loadConfig({ env: { ...SOUND, ...env }, flags }).config;

describe('a key that this version cannot honour', () => {
  const table = {
    'redis.url': { words: 'there is none' },
    'auth.oidc.scopes': { words: 'nobody asks' },
    'execution.max_worker_lifetime': { words: 'there are none' },
    'logs.backend': { words: 'only a disk', values: ['objstore'] },
  };

  test('is no problem as long as it has its default, also when that is spelled out', () => {
    expect(checkNotBuilt(load({}), table)).toEqual([]);
    const same = { SVC_EXECUTION_MAX_WORKER_LIFETIME: '60m', SVC_LOGS_BACKEND: 'disk' };
    expect(checkNotBuilt(load(same, { 'auth.oidc.scopes': 'openid,email,profile' }), table)).toEqual([]);
  });

  test('stops the boot when it is set, by name and without its value', () => {
    const set = { SVC_REDIS_URL: 'redis://:hunter2@redis:6379', SVC_EXECUTION_MAX_WORKER_LIFETIME: '2h' };
    const problems = checkNotBuilt(load(set, { 'auth.oidc.scopes': 'openid' }), table);
    expect(problems.map(({ key }) => key)).toEqual(['redis.url', 'auth.oidc.scopes', 'execution.max_worker_lifetime']);
    expect(problems[0]?.message).toBe('redis.url (SVC_REDIS_URL, --redis.url) is set, but there is none; unset it');
  });

  test('of which some values are built is refused for the others only', () => {
    expect(checkNotBuilt(load({ SVC_LOGS_BACKEND: 'objstore' }), table)).toHaveLength(1);
    expect(checkNotBuilt(load({ SVC_LOGS_BACKEND: 'cloudstore' }), table)).toEqual([]);
  });

  test('is refused by the check of the boot', () => {
    const { errors } = checkBoot(load({ SVC_LOGS_BACKEND: 'objstore', SVC_LOGS_SINK_BUCKET: 'b' }), table);
    expect(errors.map(({ key }) => key)).toEqual(['logs.backend']);
    expect(configKeys.map(variableOf)).toContain('SVC_LOGS_BACKEND');
  });
});
