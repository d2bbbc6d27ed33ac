/**
 * The same chaos with warm pools: workers die with what they run, lose their control plane, and are replaced; in the end none is
 * left that nobody looks after.
 *
 *   SVC_TEST_SEED=… npm run test:kubernetes -- packages/testing/kubernetes/warm-chaos.kubernetes.test.ts
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { queryDatabase } from '../postgres/query-database.ts';
import { checkPods } from './chaos-checks.ts';
import { CHAOS_TIMEOUT_MS, podsAreGone, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos('warm-chaos', {
    'auth.secret_liveness_mode': 'enforce',
    'execution.warm_pools_enabled': 'true',
    'execution.max_pool_size': '5',
    'execution.max_attempts_per_worker': '12',
    'execution.worker_idle_ttl': '15s',
  });
});
afterAll(() => chaos?.close());

/** Of workers that would be shown as alive. */
const liveRows = (): Promise<{ name: string; state: string }[]> =>
  queryDatabase(
    chaos.planes.databaseUrl,
    `select name, state from workers where kind = 'warm' and state not in ('gone', 'lost')
      and last_seen_at > now() - interval '15 seconds'`,
  );

describe.runIf(CLUSTER_STATE)('warm pools on a cluster whose every part is killed again and again', () => {
  it(
    'lose no attempt, run none twice, everything ends, and no worker is left',
    { timeout: CHAOS_TIMEOUT_MS },
    async () => {
      const { evidence, accepted } = await chaos.run();
      // Whatever it complains of, that no worker is left is looked at, too.
      expect.soft(checkPods(evidence, accepted, 'svc-worker-')).toEqual([]);
      // It was about workers that run one attempt after another.
      const hosts = new Set(evidence.lines.map(({ host }) => host));
      expect(evidence.lines.filter(({ what }) => what === 'start').length).toBeGreaterThan(hosts.size);
      expect(chaos.planes.all.map((plane) => plane.exited())).toEqual([null, null]);
      await podsAreGone(chaos);
      await eventually(async () => expect(await liveRows()).toEqual([]), { everyMs: 500, withinMs: 60_000 });
    },
  );
});
