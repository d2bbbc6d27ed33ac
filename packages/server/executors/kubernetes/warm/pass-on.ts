/**
 * Passes attempts to workers of other processes. A worker connects to any process of the control plane, which may
 * differ from the one that has claimed attempts for it. A process with waiting attempts that sees idle workers of their
 * pool elsewhere passes the attempts on. They then belong to the other process.
 *
 *   there are workers elsewhere ─▶ their processes are asked whether they live ─▶ each that answers gets an attempt
 *
 * When a process has died, the rows of its workers still say idle for a while. An attempt that was passed to a dead
 * process is found only when its lease expires, a minute later. The same holds for messages that are lost after the
 * answer.
 */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { compileWhenUsed } from '../../../compile-when-used.ts';
import type { AgentLog } from '../../../agents/collaborators.ts';
import type { OrderedIdentity } from '../../worker-attempts.ts';
import { ATTEMPT_FIELDS } from '../pod-names.ts';
import type { Pool, WaitingAttempt } from './pool.ts';
import { poolName } from './worker-records.ts';

/** How processes reach each other. */
export type Neighbours = {
  /** Returns the owners of idle workers of this pool, one entry per worker. */
  findIdle(pool: { tenantId: string; name: string }): Promise<readonly string[]>;
  send(text: string): Promise<void>;
  listen(onText: (text: string) => void): { stop(): Promise<void> };
};

const Message = Type.Union([
  Type.Object({ to: Type.String(), from: Type.String(), question: Type.String() }),
  Type.Object({ to: Type.String(), answer: Type.String() }),
  Type.Object({
    to: Type.String(),
    attempt: Type.Object({ kind: Type.Literal('task'), ...ATTEMPT_FIELDS }),
  }),
]);
type Message = Static<typeof Message>;
const Understood = compileWhenUsed(Message);

/**
 * A live process answers within milliseconds. One that does not is not asked again for a while, because all pools would
 * wait for it.
 */
const ANSWER_WITHIN_MS = 1_000;
const SILENT_FOR_MS = 5_000;

export function createPassOn(input: {
  neighbours: Neighbours;
  processId: string;
  /** Called with an attempt from another process. */
  onGiven: (identity: OrderedIdentity) => void;
  log: AgentLog;
}) {
  const { neighbours, processId, onGiven, log } = input;
  const asked = new Map<string, () => void>();
  /** The processes that are not asked, and until when. */
  const silent = new Map<string, number>();
  const send = (message: Message | { to: string; attempt: OrderedIdentity }): Promise<void> =>
    neighbours.send(JSON.stringify(message));

  const listening = neighbours.listen((text) => {
    const message = parse(text);
    if (message?.to !== processId) return;
    if ('attempt' in message) return onGiven(message.attempt);
    if ('answer' in message) return asked.get(message.answer)?.();
    send({ to: message.from, answer: message.question }).catch(() => {}); // it asks again
  });

  async function isThere(owner: string): Promise<boolean> {
    for (const [known, until] of silent) if (until <= Date.now()) silent.delete(known);
    if (silent.has(owner)) return false;
    const question = randomUUID();
    const { promise: answered, resolve } = Promise.withResolvers<boolean>();
    const late = setTimeout(() => resolve(false), ANSWER_WITHIN_MS);
    asked.set(question, () => resolve(true));
    try {
      await send({ to: owner, from: processId, question });
      const isHere = await answered;
      if (!isHere) silent.set(owner, Date.now() + SILENT_FOR_MS);
      return isHere;
    } finally {
      clearTimeout(late);
      asked.delete(question);
    }
  }

  async function giveOrKeep(pool: Pool, next: WaitingAttempt, to: string): Promise<void> {
    try {
      await send({ to, attempt: next.identity });
    } catch (error) {
      pool.waiting.unshift(next);
      throw error;
    }
  }

  return {
    /** Passes on the oldest waiting attempts, as many as there are idle workers elsewhere. */
    async pass(pool: Pool): Promise<void> {
      if (pool.waiting.length === 0) return;
      const { tenantId } = pool.identity;
      try {
        const idle = await neighbours.findIdle({ tenantId, name: poolName(pool.identity) });
        const owners = [...new Set(idle)].filter((owner) => owner !== processId);
        const present = await Promise.all(owners.map(async (owner) => ((await isThere(owner)) ? owner : '')));
        for (const to of idle.filter((owner) => present.includes(owner))) {
          const next = pool.waiting.shift();
          if (!next) return;
          await giveOrKeep(pool, next, to);
        }
      } catch (error) {
        log.warn(
          { code: 'SVC3024', err: error },
          'attempts could not be passed on to workers of another process: tried again',
        );
      }
    },
    close: () => listening.stop(),
  };
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Understood.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
