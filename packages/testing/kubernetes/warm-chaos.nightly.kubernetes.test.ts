/**
 * The same chaos with warm pools: workers die with what they run, lose their control plane, and are replaced.
 *
 *   NIGHTLY=1 SVC_TEST_SEED=… npm run test:kubernetes -- packages/testing/kubernetes/warm-chaos.nightly.kubernetes.test.ts
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { WARM_CHAOS, expectWorkersKeptPromises } from './chaos-promises.ts';
import { CHAOS_TIMEOUT_MS, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos({ name: 'warm-chaos', settings: WARM_CHAOS });
});
afterAll(() => chaos?.close());

describe.runIf(CLUSTER_STATE)('warm pools on a cluster whose every part is killed again and again', () => {
  it('lose no attempt, run none twice, everything ends, and no worker is left', { timeout: CHAOS_TIMEOUT_MS }, () =>
    expectWorkersKeptPromises(chaos),
  );
});
