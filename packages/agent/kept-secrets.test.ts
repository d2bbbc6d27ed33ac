import { expect, it } from 'vitest';
import { changesTo, createKeptSecrets } from './kept-secrets.ts';
import type { HeldSecrets, SecretChanges } from './kept-secrets.ts';

const NO_CHANGES: SecretChanges = { env: {}, unset: [], masks: [], unmask: [] };
const given = (id: string, base: string, changes: Partial<SecretChanges>) => ({
  id,
  base_id: base,
  changes_json: JSON.stringify({ ...NO_CHANGES, ...changes }),
});
const plain = (held: HeldSecrets | undefined) =>
  held && { id: held.id, env: Object.fromEntries(held.env), masks: [...held.masks] };

it('a state is held from its first delivery on, and changed by what comes later', () => {
  const kept = createKeptSecrets();
  const first = kept.offer('v1');
  expect(first.known).toBe('-');
  const one = first.take('v1', given('one', '', { env: { A: '1', B: '2' }, masks: ['x', 'y'] }));
  expect(plain(one)).toEqual({ id: 'one', env: { A: '1', B: '2' }, masks: ['x', 'y'] });
  const second = kept.offer('v1');
  expect(second.known).toBe('one');
  expect(second.take('v1', { id: 'one', base_id: 'one', changes_json: '' })).toBe(one);
  const two = second.take('v1', given('two', 'one', { env: { A: '3' }, unset: ['B'], masks: ['z'], unmask: ['x'] }));
  expect(plain(two)).toEqual({ id: 'two', env: { A: '3' }, masks: ['y', 'z'] });
  expect(plain(one)?.env).toEqual({ A: '1', B: '2' }); // those who have it are not touched
  expect(kept.offer().known).toBe('one two');
});

it('what is held for one version is offered to no other, and states that were replaced are let go', () => {
  const kept = createKeptSecrets();
  for (const id of ['one', 'two', 'three']) kept.offer().take('v1', given(id, '', { env: { A: id } }));
  expect(kept.offer('v1').known).toBe('two three');
  expect(kept.offer('v2').known).toBe('-');
  expect(kept.offer('v2').take('v2', null)).toBeUndefined();
});

it('an answer is taken by what was held when the question was asked, whatever came meanwhile', () => {
  const kept = createKeptSecrets();
  kept.offer().take('v1', given('one', '', { env: { A: '1' } }));
  const slow = kept.offer('v1');
  for (const id of ['two', 'three']) kept.offer().take('v1', given(id, '', { env: { A: id } }));
  expect(plain(slow.take('v1', given('four', 'one', { env: { B: '2' } })))?.env).toEqual({ A: '1', B: '2' });
  expect(() => kept.offer('v1').take('v1', given('five', 'never', {}))).toThrow('never given');
});

it('a process is told what makes its state the one that is meant', () => {
  const state = (env: Record<string, string>, masks: string[]): HeldSecrets => ({
    id: 'x',
    env: new Map(Object.entries(env)),
    masks: new Set(masks),
  });
  const now = state({ A: '1', C: '3' }, ['p', 'q']);
  expect(changesTo(now, undefined)).toEqual({ env: { A: '1', C: '3' }, unset: [], masks: ['p', 'q'], unmask: [] });
  expect(changesTo(now, state({ A: '1', B: '2', C: '4' }, ['p', 'o']))).toEqual({
    env: { C: '3' },
    unset: ['B'],
    masks: ['q'],
    unmask: ['o'],
  });
  expect(changesTo(now, now)).toEqual(NO_CHANGES);
});
