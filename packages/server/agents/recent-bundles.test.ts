import { expect, it } from 'vitest';
import { createRecentBundles } from './recent-bundles.ts';
import type { SecretBundle } from './recent-bundles.ts';

const OURS = { tenantId: 'ours', dagId: 'd', versionNumber: 1 };
const bundleOf = (id: string, env: Record<string, string>, masks: string[] = []): SecretBundle => ({ id, env, masks });
const changesIn = ({ changes_json: text }: { changes_json?: string }): unknown => JSON.parse(text ?? '');

it('a worker gets everything, then what differs, then nothing', () => {
  const recent = createRecentBundles();
  const one = bundleOf('one', { A: '1', B: '2' }, ['x']);
  const two = bundleOf('two', { A: '1', C: '3' }, ['y']);
  for (const bundle of [one, two]) recent.add(OURS, bundle);
  const all = recent.changesFor(OURS, one, ['-']);
  expect(all).toMatchObject({ id: 'one', base_id: '' });
  expect(changesIn(all)).toEqual({ env: { A: '1', B: '2' }, unset: [], masks: ['x'], unmask: [] });
  const later = recent.changesFor(OURS, two, ['forgotten', 'one']);
  expect(later).toMatchObject({ id: 'two', base_id: 'one' });
  expect(changesIn(later)).toEqual({ env: { C: '3' }, unset: ['B'], masks: ['y'], unmask: ['x'] });
  expect(recent.changesFor(OURS, two, ['one', 'two'])).toEqual({ id: 'two', base_id: 'two', changes_json: '' });
});

it.each([
  ['another tenant', { ...OURS, tenantId: 'theirs' }],
  ['another version', { ...OURS, versionNumber: 2 }],
  ['another DAG', { ...OURS, dagId: 'e' }],
])('a state of %s is no base for an answer, and nothing of it is in one', (_, other) => {
  const recent = createRecentBundles();
  recent.add(other, bundleOf('theirs', { THEIR_NAME: 'their value', A: '1' }, ['their secret']));
  const own = bundleOf('own', { A: '1' });
  recent.add(OURS, own);
  const answer = recent.changesFor(OURS, own, ['theirs']);
  expect(answer.base_id).toBe('');
  expect(changesIn(answer)).toEqual({ env: { A: '1' }, unset: [], masks: [], unmask: [] });
});
