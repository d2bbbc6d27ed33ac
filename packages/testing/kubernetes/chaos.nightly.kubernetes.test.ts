/**
 * Tasks in pods of their own while every part that they depend on is killed, for minutes. Repeat what went wrong with the seed
 * that was printed (what else can be set: chaos-scene.ts):
 *
 *   NIGHTLY=1 SVC_TEST_SEED=… npm run test:kubernetes -- packages/testing/kubernetes/chaos.nightly.kubernetes.test.ts
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectPodsKeptPromises } from './chaos-promises.ts';
import { CHAOS_TIMEOUT_MS, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos({ name: 'chaos' });
});
afterAll(() => chaos?.close());

describe.runIf(CLUSTER_STATE)('a cluster whose every part is killed again and again', () => {
  it('loses no attempt, runs none twice, and everything ends', { timeout: CHAOS_TIMEOUT_MS }, () =>
    expectPodsKeptPromises(chaos),
  );
});
