/**
 * How many connections, or alert rules, a tenant may test in a minute. Only the process that tests them counts them.
 */
import { ApiError } from '../http/errors.ts';

const TESTS = 10;
const PER_MS = 60_000;

export type TestBudget = {
  /** Returns 0 if the tenant may test now. Otherwise returns the time until it may, in milliseconds. */
  take(tenantId: string): number;
};

export function createTestBudget(now: () => number): TestBudget {
  const taken = new Map<string, number[]>();
  return {
    take(tenantId) {
      const since = now() - PER_MS;
      for (const [key, moments] of taken) if ((moments.at(-1) ?? 0) <= since) taken.delete(key);
      const recent = (taken.get(tenantId) ?? []).filter((moment) => moment > since);
      const [oldest = 0] = recent;
      if (recent.length >= TESTS) return oldest - since;
      taken.set(tenantId, [...recent, now()]);
      return 0;
    },
  };
}

export function tooManyTests(waitMs: number, what: 'connections' | 'alert rules'): ApiError {
  const seconds = Math.ceil(waitMs / 1_000);
  const detail = `your tenant has tested as many ${what} as it may in a minute: try again in ${seconds} s`;
  return new ApiError('test_rate_limited', detail, { 'retry-after': String(seconds) });
}
