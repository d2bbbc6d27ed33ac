/**
 * Runs the chain on several servers, interleaved run by run (A/B), because the speed of the machine changes within
 * minutes.
 */
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { WARM_UPS, chainRun } from './tasks.ts';

export type Chains = { seconds: number[]; gaps: number[] };

/** Returns results in the order of the servers. */
export async function chainsInTurn(servers: readonly LiveServer[], repeats: number): Promise<Chains[]> {
  const measured = servers.map((server) => ({ server, seconds: [] as number[], gaps: [] as number[] }));
  for (let repeat = -WARM_UPS; repeat < repeats; repeat += 1) {
    for (const { server, seconds, gaps } of measured) {
      const run = await chainRun(server);
      if (repeat < 0) continue;
      seconds.push(run.seconds);
      gaps.push(...run.gaps);
    }
  }
  return measured;
}
