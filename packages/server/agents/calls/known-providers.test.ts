import { afterEach, expect, it, vi } from 'vitest';
import { createKnownProviders } from './known-providers.ts';

afterEach(() => void vi.useRealTimers());

const VERSION = { tenantId: 'a', dagId: 'dag', versionNumber: 1 };

it('asks one container of a version for its providers, and another only when that one has not told for a minute', () => {
  vi.useFakeTimers();
  const providers = createKnownProviders();
  expect(providers.isKnown(VERSION)).toBe(false);
  expect(providers.isKnown(VERSION)).toBe(true);
  expect(providers.isKnown({ ...VERSION, versionNumber: 2 })).toBe(false);
  expect(providers.isKnown({ ...VERSION, tenantId: 'b' })).toBe(false);
  vi.advanceTimersByTime(61_000);
  expect(providers.isKnown(VERSION)).toBe(false);
  providers.told(VERSION);
  vi.advanceTimersByTime(61_000);
  expect(providers.isKnown(VERSION)).toBe(true);
});
