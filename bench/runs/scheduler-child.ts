// One of several schedulers on one database, see schedulers.ts. It triggers this many runs, and reports when all have
// ended.

import { startNullEngine } from './null-engine.ts';

const [url = '', inFlight = '1', bodyMs = '0'] = process.argv.slice(2);
const engine = await startNullEngine(url, { inFlight: Number(inFlight), bodyMs: Number(bodyMs) });

process.on('message', async ({ dagId, runs }: { dagId: string; runs: number }) => {
  const before = process.cpuUsage();
  for (let made = 0; made < runs; made += 10)
    await Promise.all(Array.from({ length: Math.min(10, runs - made) }, () => engine.trigger(dagId)));
  await engine.idle(dagId);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpuMs: (user + system) / 1_000 });
});
process.once('disconnect', async () => {
  await engine.close();
  process.exit(0);
});
process.send?.({});
