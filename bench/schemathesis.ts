// Tests the API against its own document with other seeds than the test, and longer. It stops at the first failure,
// prints its seed and exits with 1.

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { ROOT } from '@svc/testing/paths.ts';
import type { BenchOptions } from './figure.ts';

/** About ten times as many as in `npm run test:services`. */
const EXAMPLES = 20;
const SEQUENCES = 300;
const TEST = 'packages/server/api/schemathesis.services.test.ts';

export async function run(options: BenchOptions): Promise<void> {
  const first = options.number('seed', randomInt(1, 1_000_000_000));
  const times = options.number('times', 3);
  for (let round = 0; round < times; round += 1) {
    const seed = first + round;
    options.say(`round ${round + 1} of ${times}: ${EXAMPLES} examples per operation, seed ${seed}`);
    const started = performance.now();
    const vitest = spawn('npx', ['vitest', 'run', '--config', 'vitest.services.config.ts', TEST], {
      cwd: ROOT,
      env: {
        ...process.env,
        SVC_TEST_SEED: String(seed),
        SVC_SCHEMATHESIS_EXAMPLES: String(EXAMPLES),
        SVC_SCHEMATHESIS_SEQUENCES: String(SEQUENCES),
      },
      stdio: ['ignore', 2, 2], // standard output is for figures
    });
    const [code] = (await once(vitest, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`found with seed ${seed}: npm run bench -- schemathesis --times 1 --seed ${seed}`);
    const value = Math.round((performance.now() - started) / 1_000);
    options.print({ bench: 'schemathesis', figure: 'round without a finding', value, unit: 's', seed });
  }
}
