/** Warm workers while parts that they depend on are killed: the kinds of faults that chaos.kubernetes.test.ts leaves out. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { WARM_CHAOS, expectWorkersKeptPromises } from './chaos-promises.ts';
import { CHAOS_TIMEOUT_MS, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos({ name: 'warm-chaos', part: 1, settings: WARM_CHAOS });
});
afterAll(() => chaos?.close());

describe.runIf(CLUSTER_STATE)('warm pools on a cluster whose parts are killed one after another', () => {
  it('lose no attempt, run none twice, everything ends, and no worker is left', { timeout: CHAOS_TIMEOUT_MS }, () =>
    expectWorkersKeptPromises(chaos),
  );
});
