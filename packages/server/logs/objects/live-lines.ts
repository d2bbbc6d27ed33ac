/**
 * The carrier of live lines: how a process that follows a log learns that another has acknowledged lines of it. The lines
 * themselves are read where they are kept (`log_chunks`); what is carried is that there are some, by Postgres and, where there is
 * one, by Redis as well, which is quicker and does not have the lock below.
 *
 * In this process at once; to others as one notification for all logs that grew within some milliseconds, because a
 * transaction that notifies takes a global lock at its commit. A lost one costs at most the half second after which followers look
 * by themselves.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { Carrier } from '../../redis/carrier.ts';
import { listenTo } from '../../db/listen.ts';
import type { Listening } from '../../db/listen.ts';
import { notifyLogsGrown } from '../../db/task-logs/store-state.ts';
import type { LogKey } from '../log-key.ts';
import type { LogWatch } from '../store.ts';
import { shareWatchers } from '../shared-watchers.ts';
import { createWatchers } from '../watchers.ts';

export type LiveLines = {
  /** Lines of it have been acknowledged here. */
  grown(logKey: LogKey): void;
  watch(logKey: LogKey): LogWatch;
  close(): Promise<void>;
};

const CHANNEL = 'svc_logs';
const COALESCE_MS = 25;
/** A notification holds 8,000 bytes; more logs than fit are told as "any". */
const MAX_NAMES = 400;
const ANY = '*';

export function createLiveLines(input: { url: string; db: Database; carrier?: Carrier | undefined }): LiveLines {
  const watchers = createWatchers();
  const shared = input.carrier ? shareWatchers(watchers, input.carrier) : watchers;
  const watched = new Map<string, number>();
  let grown = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let listening: Listening | undefined;

  const wakeAll = (): void => {
    for (const name of watched.keys()) watchers.notify(name);
  };

  function send(): void {
    timer = undefined;
    const names = [...grown];
    grown = new Set();
    notifyLogsGrown(input.db, CHANNEL, names.length > MAX_NAMES ? ANY : names.join(',')).catch(() => {}); // followers look by themselves
  }

  function listen(): void {
    listening ??= listenTo({
      url: input.url,
      channels: [CHANNEL],
      onNotification(payload) {
        if (payload === ANY) wakeAll();
        else for (const name of payload.split(',')) watchers.notify(name);
      },
      onListening: wakeAll,
    });
  }

  return {
    grown(logKey) {
      const name = nameOf(logKey);
      shared.notify(name);
      grown.add(name);
      timer ??= setTimeout(send, COALESCE_MS);
    },
    watch(logKey) {
      const name = nameOf(logKey);
      listen();
      watched.set(name, (watched.get(name) ?? 0) + 1);
      const watch = shared.watch(name);
      return {
        next: watch.next,
        close() {
          watch.close();
          const left = (watched.get(name) ?? 1) - 1;
          if (left > 0) watched.set(name, left);
          else watched.delete(name);
        },
      };
    },
    async close() {
      clearTimeout(timer);
      await listening?.stop();
    },
  };
}

const nameOf = ({ tenantId, dagId, runId, taskId, mapIndex, tryNumber }: LogKey): string =>
  createHash('sha256')
    .update(JSON.stringify([tenantId, dagId, runId, taskId, mapIndex, tryNumber]))
    .digest('hex')
    .slice(0, 16);
