import { killSenders } from '@svc/testing/alerts/killed-senders.ts';
import { startAlerting } from '@svc/testing/alerts/alerting.ts';
import { createRandom } from '@svc/testing/chaos/random.ts';
import { SEED } from '@svc/testing/seed.ts';
import { expect, it } from 'vitest';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';

const ROUNDS = IS_NIGHTLY ? 200 : 4;

it('a sender killed between the commit and the message loses no alert, and sends none under two keys', async () => {
  const world = await startAlerting();
  try {
    await world.connection('hook');
    await world.rule('all', { events: ['failed'] });
    const outcomes = await killSenders(world, { rounds: ROUNDS, random: createRandom(SEED) });
    expect(outcomes).toHaveLength(ROUNDS);
    for (const { death, keys } of outcomes) {
      expect(keys.length, death).toBeGreaterThan(0);
      expect(new Set(keys).size, death).toBe(1);
    }
  } finally {
    await world.close();
  }
});
