/**
 * How many requests of one tenant may be served at the same time.
 *
 * If one tenant sends requests, it may use all places. If several tenants do, each may use at most three quarters. While
 * the process is saturated, each may use one, because each further request delays those of the other tenants. After that
 * the share grows step by step, so that one tenant does not saturate the process again at once.
 */

/** The name under which all clients count whose tenant is not known yet. */
export const NO_TENANT = '';

export type TenantShare = {
  /** Records a request. One without a known tenant makes no tenant share its places. */
  seen(tenant: string): void;
  of(tenant: string): number;
  /** True while the share is reduced. */
  isTight(): boolean;
};

/** A tenant counts as present for this long after its last request. */
const PRESENT_MS = 10_000;
/** The share grows by one request in this time. */
const GROWS_EVERY_MS = 500;

export function createTenantShare(
  { atOnce, most }: { atOnce: number; most: number },
  { now, isSaturated }: { now(): number; isSaturated(): boolean },
): TenantShare {
  // Two tenants are enough to know whether any tenant is alone: the last one, and the last one before it.
  let last = { tenant: NO_TENANT, at: -Infinity };
  let other = { tenant: NO_TENANT, at: -Infinity };
  let share = most;
  let changedAt = -Infinity;

  return {
    seen(tenant) {
      if (tenant === NO_TENANT) return;
      if (tenant !== last.tenant) other = last;
      last = { tenant, at: now() };
    },
    of(tenant) {
      const companion = last.tenant === tenant ? other : last;
      if (now() - companion.at > PRESENT_MS) return atOnce;
      if (isSaturated()) {
        share = 1;
        changedAt = now();
      } else if (share < most) {
        const steps = Math.floor((now() - changedAt) / GROWS_EVERY_MS);
        share = Math.min(most, share + steps);
        changedAt += steps * GROWS_EVERY_MS;
      }
      return share;
    },
    isTight: () => share < most,
  };
}
