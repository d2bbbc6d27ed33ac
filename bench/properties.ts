// Runs property tests round after round with other seeds than `npm test`. It stops at the first failure, prints its
// seed and exits with 1.

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { ROOT } from '@svc/testing/paths.ts';
import { propertyTests } from '@svc/testing/vitest/tiers.ts';
import type { BenchOptions } from './figure.ts';

export async function run(options: BenchOptions): Promise<void> {
  const first = options.number('seed', randomInt(1, 1_000_000_000));
  const times = options.number('times', 10);
  const only = options.text('only') ?? '';
  const files = propertyTests().filter((file) => file.includes(only));
  for (let round = 0; round < times; round += 1) {
    const seed = first + round;
    options.say(`round ${round + 1} of ${times}: ${files.length} files, seed ${seed}`);
    const started = performance.now();
    const vitest = spawn('npx', ['vitest', 'run', ...files], {
      cwd: ROOT,
      env: { ...process.env, SVC_TEST_SEED: String(seed) },
      stdio: ['ignore', 2, 2], // standard output is for figures
    });
    const [code] = (await once(vitest, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`found with seed ${seed}: npm run bench -- properties --times 1 --seed ${seed}`);
    const value = Math.round((performance.now() - started) / 1_000);
    options.print({
      bench: 'properties',
      figure: 'round without a finding',
      value,
      unit: 's',
      seed,
      files: files.length,
    });
  }
}
