import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createIsolations, isolationKind, maxGrowth } from './isolation.ts';

it.each([
  [{}, false, 'together'],
  [{}, true, 'apart'],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, true, 'pod'],
  [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, false, 'together'],
  [{ SVC_AGENT_ISOLATION: 'apart' }, false, 'apart'],
  [{ SVC_AGENT_ISOLATION: 'together' }, true, 'together'],
] as const)('with %j, joined: %s, attempts are kept %s', (env, joins, kind) => {
  expect(isolationKind(env, joins)).toBe(kind);
});

it('refuses settings that mean nothing, and says what to set', () => {
  expect(() => isolationKind({ SVC_AGENT_ISOLATION: 'no' }, true)).toThrow('set one of together, apart, pod');
  expect(() => maxGrowth({ SVC_AGENT_MAX_INTERPRETER_GROWTH_MB: 'much' })).toThrow('a whole number of MiB');
  expect(maxGrowth({ SVC_AGENT_MAX_INTERPRETER_GROWTH_MB: '2' })).toBe(2 * 1024 * 1024);
  expect(maxGrowth({})).toBe(256 * 1024 * 1024);
});

it('gives each server a folder of its own, and removes what a killed one has left', () => {
  const isolations = createIsolations({ kind: 'apart', env: {}, user: undefined });
  const [first = '', second = ''] = [isolations.next().places, isolations.next().places];
  expect(first).not.toBe(second);
  mkdirSync(join(first, 'home'), { recursive: true });
  writeFileSync(join(first, 'home', 'left'), '');
  isolations.close();
  expect(existsSync(dirname(first))).toBe(false);
  expect(createIsolations({ kind: 'together', env: {}, user: undefined }).next()).toEqual({ max_growth: 268_435_456 });
});
