/** Tasks in pods of their own while parts that they depend on are killed: half of the kinds of faults, once each. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectPodsKeptPromises } from './chaos-promises.ts';
import { CHAOS_TIMEOUT_MS, startChaos } from './chaos-scene.ts';
import type { Chaos } from './chaos-scene.ts';
import { CLUSTER_STATE } from './cluster.ts';

let chaos: Chaos;
beforeAll(async () => {
  chaos = await startChaos({ name: 'chaos', part: 0 });
});
afterAll(() => chaos?.close());

describe.runIf(CLUSTER_STATE)('a cluster whose parts are killed one after another', () => {
  it('loses no attempt, runs none twice, and everything ends', { timeout: CHAOS_TIMEOUT_MS }, () =>
    expectPodsKeptPromises(chaos),
  );
});
