/**
 * How this product uses Redis: as a cache of texts that may disappear at any time, and as a carrier of messages that
 * may be lost. Everything in it is in Postgres as well. No call waits longer than a command may take, and none throws.
 * What Redis cannot accept is dropped and reported. The log has the start and the end of each problem. The metrics
 * count them, and readiness and health show `problem`.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { createSubscriptions } from './carrier.ts';
import type { Carrier } from './carrier.ts';
import { isRefusal, openLink } from './link.ts';
import type { Link, LinkState } from './link.ts';
import type { RedisSettings } from './settings.ts';

export type RedisLog = { info(details: object, message: string): void; warn(details: Coded, message: string): void };

/** Texts by key, each with a lifetime. A stored text may be missing, but it is never another text. */
export type TextCache = {
  /** False if calls would fail, so that the caller can ask Postgres at once. */
  isUp(): boolean;
  /** Returns texts in the order of the keys, null for a missing one, and undefined if there is no answer. */
  getMany(keys: readonly string[]): Promise<(string | null)[] | undefined>;
  /** Returns at once. The text is dropped if too many bytes are on their way. */
  put(key: string, text: string, ttlSeconds: number): void;
};

export type RedisUsage = {
  isUp: boolean;
  outages: number;
  /** Counts by command and outcome. */
  commands: ReadonlyMap<CommandOutcome, number>;
};
export type CommandOutcome = `${'get' | 'set' | 'publish'}:${'ok' | 'refused' | 'failed' | 'dropped'}`;

export type Redis = TextCache &
  Carrier & {
    /** A message for every reader, without an address. Null if there is no problem. */
    problem(): string | null;
    usage(): RedisUsage;
    close(): void;
  };

/**
 * Beyond these limits, reads go to Postgres and writes are dropped, because a slow Redis must not fill the memory of
 * this process.
 */
const MAX_READS_AT_ONCE = 256;
const MAX_BYTES_ON_THE_WAY = 32 * 1024 * 1024;
/**
 * A Redis that is nearly full refuses large values and accepts small ones. One accepted value therefore does not end
 * the problem.
 */
const WELL_AFTER_MS = 30_000;

export function openRedis(input: { settings: RedisSettings; log: RedisLog; wellAfterMs?: number }): Redis {
  const { settings, log, wellAfterMs = WELL_AFTER_MS } = input;
  const commands = new Map<CommandOutcome, number>();
  const count = (outcome: CommandOutcome): void => void commands.set(outcome, (commands.get(outcome) ?? 0) + 1);
  const refusals = createRefusals(log, wellAfterMs);
  const subscriptions = createSubscriptions(settings);
  let outages = 0;
  const told = new Set<string | null>();
  let readsAtOnce = 0;
  let bytesOnTheWay = 0;

  const link: Link = openLink({
    settings,
    onState({ status, reason }: LinkState, before: LinkState) {
      if (status === 'ready') log.info({}, 'Redis answers');
      if (status !== 'away') return;
      if (before.status !== 'away') {
        outages += 1;
        told.clear();
      }
      if (told.has(reason)) return; // each reason is logged once, because reasons may alternate for hours
      told.add(reason);
      log.warn({ code: 'SVC1030', reason }, `Redis is away: ${INSTEAD}`);
    },
  });

  async function getMany(keys: readonly string[]): Promise<(string | null)[] | undefined> {
    if (readsAtOnce >= MAX_READS_AT_ONCE) {
      count('get:dropped');
      return undefined;
    }
    readsAtOnce += 1;
    try {
      const texts = await link.use((client) => client.mGet([...keys]));
      count(texts ? 'get:ok' : 'get:failed');
      if (texts) refusals.taken('read');
      return texts;
    } catch (error) {
      count('get:refused');
      refusals.refused('read', error);
      return undefined;
    } finally {
      readsAtOnce -= 1;
    }
  }

  async function put(key: string, text: string, ttlSeconds: number): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (bytesOnTheWay + bytes > MAX_BYTES_ON_THE_WAY) return count('set:dropped');
    bytesOnTheWay += bytes;
    try {
      const expiration = { type: 'EX', value: ttlSeconds } as const;
      const done = await link.use((client) => client.set(key, text, { expiration }));
      count(done === undefined ? 'set:failed' : 'set:ok');
      if (done !== undefined) refusals.taken('write');
    } catch (error) {
      count('set:refused');
      refusals.refused('write', error);
    } finally {
      bytesOnTheWay -= bytes;
    }
  }

  async function publish(channel: string, message: string): Promise<void> {
    const bytes = Buffer.byteLength(message);
    if (bytesOnTheWay + bytes > MAX_BYTES_ON_THE_WAY) return count('publish:dropped');
    bytesOnTheWay += bytes;
    try {
      const done = await link.use((client) => client.publish(channel, message));
      count(done === undefined ? 'publish:failed' : 'publish:ok');
      if (done !== undefined) refusals.taken('publish');
    } catch (error) {
      count('publish:refused');
      refusals.refused('publish', error);
    } finally {
      bytesOnTheWay -= bytes;
    }
  }

  return {
    publish: (channel, message) => void publish(channel, message),
    subscribe: subscriptions.subscribe,
    isUp: () => link.state().status === 'ready',
    getMany,
    put: (key, text, ttlSeconds) => void put(key, text, ttlSeconds),
    problem() {
      // The first connection attempt is not an outage.
      return link.state().status === 'away' ? `Redis is away: ${INSTEAD}` : refusals.problem();
    },
    usage: () => ({ isUp: link.state().status === 'ready', outages, commands }),
    close() {
      subscriptions.close();
      link.close();
    },
  };
}

const INSTEAD = 'Postgres, which has everything, is asked instead; nothing is lost';

type Kind = 'read' | 'write' | 'publish';

const WHAT: Record<Kind, string> = {
  read: 'read values of tasks',
  write: 'store values of tasks',
  publish: 'publish on svc:*',
};

/** Tracks refusals: Redis answers, but its memory is full, a permission is missing, or it is a replica. */
function createRefusals(log: RedisLog, wellAfterMs: number) {
  const open = new Map<Kind, { words: string; lastAt: number }>();
  return {
    refused(kind: Kind, error: unknown): void {
      const words = wordsOf(kind, isRefusal(error) ? error.message : 'unknown');
      if (open.get(kind)?.words !== words) log.warn({ code: 'SVC1031', reason: (error as Error).message }, words);
      open.set(kind, { words, lastAt: Date.now() });
    },
    taken(kind: Kind): void {
      const refusal = open.get(kind);
      if (!refusal || Date.now() - refusal.lastAt < wellAfterMs) return;
      open.delete(kind);
      log.info({}, `Redis allows to ${WHAT[kind]} again`);
    },
    problem: (): string | null => [...open.values()][0]?.words ?? null,
  };
}

function wordsOf(kind: Kind, answer: string): string {
  if (answer.startsWith('OOM')) {
    return `Redis has no memory left for values of tasks (maxmemory, and a policy that evicts nothing): ${INSTEAD}; raise maxmemory, or set maxmemory-policy allkeys-lru`;
  }
  if (answer.startsWith('NOPERM')) {
    return `Redis does not allow its user to ${WHAT[kind]}: ${INSTEAD}; the user needs ~svc:* &svc:* +mget +set +ping +select +publish +subscribe (ACL SETUSER)`;
  }
  return `Redis refuses to ${WHAT[kind]} (${answer.split(' ', 1)[0] ?? ''}): ${INSTEAD}`;
}
