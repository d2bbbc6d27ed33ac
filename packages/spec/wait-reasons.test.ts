import { expect, it } from 'vitest';
import { WAIT_REASONS, decodeWait, encodeWait, isWaitReason } from './wait-reasons.ts';

it('a stored wait is read as it was written, with line breaks and colons in its detail', () => {
  const wait = { reason: 'image_pull', detail: 'registry: denied\nsecond line' } as const;
  expect(encodeWait(wait)).toBe('image_pull: registry: denied\nsecond line');
  expect(decodeWait(encodeWait(wait))).toEqual(wait);
  expect(decodeWait(encodeWait({ ...wait, detail: '' }))).toEqual({ ...wait, detail: '' });
});

it('a long detail is cut, so that a row stays small', () => {
  expect(decodeWait(encodeWait({ reason: 'pod_refused', detail: 'x'.repeat(501) }))?.detail).toBe('x'.repeat(500));
});

it('a text that is no stored wait is not read as one, and inherited names of objects are no reasons', () => {
  for (const text of ['', 'upstream', 'upstream:', ': x', 'nonsense: x', 'toString: x', 'a b: x', 'x upstream: y'])
    expect(decodeWait(text)).toBeUndefined();
  expect(['upstream', 'toString', ''].map(isWaitReason)).toEqual([true, false, false]);
});

it('each reason is a sentence of its own', () => {
  const sentences = Object.values(WAIT_REASONS);
  expect(new Set(sentences).size).toBe(sentences.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^[a-z]+ \S/);
});
