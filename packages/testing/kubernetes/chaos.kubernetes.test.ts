/**
 * Tasks in pods of their own while every part that they depend on is killed. Repeat what went wrong with the seed that was
 * printed (what else can be set: chaos-scene.ts):
 *
 *   SVC_TEST_SEED=… npm run test:kubernetes -- packages/testing/kubernetes/chaos.kubernetes.test.ts
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPods } from './chaos-checks.ts';
import { CHAOS_TIMEOUT_MS, podsAreGone, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos('chaos');
});
afterAll(() => chaos?.close());

describe.runIf(CLUSTER_STATE)('a cluster whose every part is killed again and again', () => {
  it('loses no attempt, runs none twice, and everything ends', { timeout: CHAOS_TIMEOUT_MS }, async () => {
    const { evidence, accepted } = await chaos.run();
    expect(checkPods(evidence, accepted)).toEqual([]);
    expect(chaos.planes.all.map((plane) => plane.exited())).toEqual([null, null]);
    await podsAreGone(chaos);
  });
});
