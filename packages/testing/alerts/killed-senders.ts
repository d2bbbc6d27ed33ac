/** Kills senders of alerts at random moments, and reports which messages arrived under which keys. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';
import { graphOf } from '../engine/scripted-scheduler.ts';
import { eventually } from '../eventually.ts';
import type { Alerting } from './alerting.ts';

/** How a sender dies: before it can have sent, with a request that gets no answer, or right after the answer. */
const DEATHS = ['at once', 'without an answer', 'after the answer'] as const;

/** `keys`: for each failure, the idempotency keys of the requests that told it. */
export type Outcome = { death: (typeof DEATHS)[number]; keys: string[] };

export async function killSenders(
  world: Alerting,
  { rounds, random }: { rounds: number; random: Random },
): Promise<Outcome[]> {
  await world.register('killed', graphOf({ a: [] }));
  const outcomes: Outcome[] = [];
  let sender = await startSender(world);
  try {
    for (let round = 0; round < rounds; round += 1) {
      const death = random.pick(DEATHS);
      const name = String.fromCodePoint(97 + (round % 26)).repeat(1 + Math.floor(round / 26));
      let isKilled = false;
      const kill = (): void => {
        isKilled = true;
        sender.kill('SIGKILL');
      };
      world.receiver.answerWith(async () => {
        if (death !== 'at once' && !isKilled) {
          if (death === 'without an answer') kill();
          else setImmediate(kill);
        }
        return { status: 200 };
      });
      world.receiver.received.length = 0;
      await world.run('killed', {
        a: { state: 'failed', failure: { cause: 'exception', text: `Error_${name}: round` } },
      });
      if (death === 'at once') {
        await sleep(random.below(30));
        kill();
      }
      await eventually(() => {
        if (!isKilled) throw new Error('the sender still lives');
      });
      sender = await startSender(world);
      await eventually(async () => {
        // Facts first: one that becomes an alert between the two looks is then seen as the alert.
        const facts = await world.server.db.shared.selectFrom('alert_facts').select('id').execute();
        const open = await world.engine.scope
          .selectFrom('alerts')
          .select('id')
          .where('due_at', 'is not', null)
          .execute();
        if (open.length > 0 || facts.length > 0) throw new Error('a message is still due');
      });
      outcomes.push({ death, keys: world.receiver.received.map(({ headers }) => headers['idempotency-key'] ?? '') });
    }
  } finally {
    sender.kill('SIGKILL');
  }
  return outcomes;
}

async function startSender({ server }: Alerting): Promise<ChildProcess> {
  const { config } = server;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run-sender.ts')], {
    env: {
      PATH: process.env['PATH'],
      SVC_DATABASE_URL: config.database.url,
      SVC_SECRET_KEY: config.secretKey,
      SVC_LOGS_DIR: config.logs.dir,
      SVC_ALERTS_ALLOW_PRIVATE_ADDRESSES: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}
