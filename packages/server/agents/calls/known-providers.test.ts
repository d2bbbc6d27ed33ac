import { afterEach, expect, it, vi } from 'vitest';
import { createKnownProviders } from './known-providers.ts';

afterEach(() => void vi.useRealTimers());

const VERSION = { tenantId: 'a', dagId: 'dag', versionNumber: 1 };

it('asks one container of a version for its providers, and another only when that one has not told for a minute', () => {
  vi.useFakeTimers();
  const providers = createKnownProviders();
  expect(providers.ask(VERSION)).toBe(true);
  expect(providers.ask(VERSION)).toBe(false);
  expect(providers.ask({ ...VERSION, versionNumber: 2 })).toBe(true);
  expect(providers.ask({ ...VERSION, tenantId: 'b' })).toBe(true);
  vi.advanceTimersByTime(61_000);
  expect(providers.ask(VERSION)).toBe(true);
  providers.told(VERSION);
  vi.advanceTimersByTime(61_000);
  expect(providers.ask(VERSION)).toBe(false);
});
