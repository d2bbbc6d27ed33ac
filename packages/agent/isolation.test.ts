import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
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
  const isolations = createIsolations({ kind: 'apart', env: {}, user: undefined, isLocal: false });
  const servers = [isolations.next(), isolations.next()];
  const [first = '', second = ''] = servers.map(({ places }) => places);
  expect(first).not.toBe(second);
  for (const places of [first, second]) {
    mkdirSync(join(places, 'home'), { recursive: true });
    writeFileSync(join(places, 'home', 'left'), '');
  }
  isolations.ended({ places: first });
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
  isolations.close();
  expect(existsSync(dirname(first))).toBe(false);
});

it('isolates nothing where attempts are to be together', () => {
  const isolations = createIsolations({ kind: 'together', env: {}, user: undefined, isLocal: true });
  expect(isolations.next()).toEqual({ max_growth: 268_435_456 });
});

it.runIf(process.getuid?.() === 0)('the user of tasks cannot find the folders of a server by listing', () => {
  const user = { name: 'nobody', uid: 65534, gid: 65534, home: '/' };
  const isolations = createIsolations({ kind: 'apart', env: {}, user, isLocal: true });
  const { places = '' } = isolations.next();
  const [base, own] = [statSync(dirname(places)), statSync(places)];
  expect([base.uid, base.mode & 0o777, own.uid, own.mode & 0o777]).toEqual([0, 0o711, user.uid, 0o700]);
  isolations.close();
});

it('a worker that nobody would replace stays when an attempt has left something behind', () => {
  for (const isLocal of [true, false]) {
    const isolations = createIsolations({ kind: 'apart', env: {}, user: undefined, isLocal });
    expect(isolations.leavesWhenUnclean).toBe(!isLocal);
    isolations.close();
  }
});
