/**
 * Notifies processes that follow a log when another process has acknowledged lines of it. The lines themselves stay in
 * `log_chunks`. Postgres carries the notification. If Redis is configured, it carries it as well, which is faster and
 * avoids the lock described below.
 *
 * In this process, followers are notified at once. For other processes, all logs that grew within some milliseconds
 * share one notification, because a transaction that notifies takes a global lock at its commit. A lost notification
 * costs at most the half second after which followers look anyway.
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
  /** Reports that this process has acknowledged lines of the log. */
  grown(logKey: LogKey): void;
  watch(logKey: LogKey): LogWatch;
  close(): Promise<void>;
};

const CHANNEL = 'svc_logs';
const COALESCE_MS = 25;
/** A notification holds 8,000 bytes. If more logs have grown, it says "any". */
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
    // A failure is harmless, because followers also look on their own.
    notifyLogsGrown(input.db, CHANNEL, names.length > MAX_NAMES ? ANY : names.join(',')).catch(() => {});
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
