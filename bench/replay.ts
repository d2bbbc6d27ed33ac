// Replays a try of each broken DAG by `svc replay`, for a user that may not read secrets. For each it prints the time and
// whether the replay raised the same exception at the same line. Tries of sensors and timeouts wait as long as there.

import { replayBrokenDags } from '@svc/testing/mcp/replay-broken-dags.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

export async function run({ text, print, say }: BenchOptions): Promise<void> {
  const only = text('only');
  say('running the broken DAGs on a control plane');
  const replayed = await replayBrokenDags({ ...(only !== undefined && { only }) });
  const isSame = ({ there, here }: (typeof replayed)[number]): boolean =>
    there.state === here.state && there.error === here.error && there.line === here.line;
  for (const one of replayed) {
    const raised = `${one.here.error ?? one.here.state} ${one.here.line ?? ''}`.trim();
    print({
      bench: 'replay',
      figure: one.name,
      value: rounded(one.ms, 0),
      unit: 'ms',
      raised,
      same: isSame(one) ? 'yes' : 'no',
    });
  }
  print({
    bench: 'replay',
    figure: 'same exception at the same line',
    value: replayed.filter(isSame).length,
    unit: `of ${replayed.length} tries`,
  });
}
