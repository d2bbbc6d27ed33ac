// One scheduler of several: see scheduler-process.ts. Each attempt has a body of some milliseconds, which it tells of.

import { hrtime } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from './scheduler-process.ts';
import { startScriptedScheduler } from './scripted-scheduler.ts';

const [url = '', capacity = '1'] = process.argv.slice(2);
const now = (): number => Number(hrtime.bigint() / 1_000n);
let bodies = 0;
const engine = await startScriptedScheduler({
  url,
  capacity: Number(capacity),
  async script({ run, dagId, taskId }) {
    const from = now();
    await sleep(1 + ((bodies += 1) % 5));
    process.send?.({ body: { run, dagId, taskId, from, to: now() } });
    return { state: 'success' };
  },
});
// As a notification of another process would: more often than the loop does by itself.
const ticks = setInterval(() => void engine.scheduler.tick().catch(() => {}), 50);

process.on('message', async (order: Order) => {
  try {
    if ('register' in order) await engine.register(order.register);
    else await engine.trigger(order.trigger);
  } catch (error) {
    process.send?.({ problem: String(error) });
  }
  process.send?.({});
});
process.once('disconnect', async () => {
  clearInterval(ticks);
  await engine.close();
  for (const problem of engine.problems) console.error(problem);
  process.exit(0);
});
process.send?.({});
