/** What must be true after a scene of chaos, short or long. */
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { checkPods } from './chaos-checks.ts';
import { podsAreGone } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';

/** Where each attempt has a pod of its own. */
export async function expectPodsKeptPromises(chaos: Chaos): Promise<void> {
  const { evidence, accepted } = await chaos.run();
  expect(checkPods(evidence, accepted)).toEqual([]);
  expect(chaos.planes.all.map((plane) => plane.exited())).toEqual([null, null]);
  await podsAreGone(chaos);
}

/** The settings of a scene for `expectWorkersKeptPromises`. */
export const WARM_CHAOS = {
  'auth.secret_liveness_mode': 'enforce',
  'execution.warm_pools_enabled': 'true',
  'execution.max_pool_size': '5',
  'execution.max_attempts_per_worker': '12',
  'execution.worker_idle_ttl': '15s',
};

/** Where warm workers run one attempt after another. */
export async function expectWorkersKeptPromises(chaos: Chaos): Promise<void> {
  const { evidence, accepted } = await chaos.run();
  // A soft check: that no worker is left is checked in any case.
  expect.soft(checkPods(evidence, accepted, 'svc-worker-')).toEqual([]);
  const hosts = new Set(evidence.lines.map(({ host }) => host));
  expect(evidence.lines.filter(({ what }) => what === 'start').length).toBeGreaterThan(hosts.size);
  expect(chaos.planes.all.map((plane) => plane.exited())).toEqual([null, null]);
  await podsAreGone(chaos);
  await eventually(async () => expect(await liveRows(chaos)).toEqual([]), { everyMs: 500, withinMs: 240_000 });
}

/** Of workers that would be shown as alive. */
const liveRows = ({ planes }: Chaos): Promise<{ name: string; state: string }[]> =>
  queryDatabase(
    planes.databaseUrl,
    `select name, state from workers where kind = 'warm' and state not in ('gone', 'lost')
      and last_seen_at > now() - interval '15 seconds'`,
  );
