/**
 * What is known about our pods: one list, and then a stream of changes for all of them.
 *
 *   list ──▶ watch from its resourceVersion ──▶ the stream ends: watch again from the last version (bookmarks move it)
 *     ▲                    │
 *     └── 410: too old ◀───┘    missed changes are found by comparing the new list with the known pods
 */
import type { V1Pod } from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { createBackoff } from '@svc/spec/backoff.ts';
import { hasStatus } from './api-client.ts';
import type { ApiClient, WatchEvent } from './api-client.ts';

/** A pod without the fields that no code here reads: a thousand of them take a few megabytes. */
export type SeenPod = {
  name: string;
  uid: string;
  resourceVersion: string;
  createdAt: string;
  deletedAt: string | undefined;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  nodeName: string | undefined;
  /** As it was requested. */
  image: string | undefined;
  memoryLimit: string | undefined;
  deadlineSeconds: number | undefined;
  status: NonNullable<V1Pod['status']>;
};

export type PodWatch = {
  /** True after the first list. */
  hasSynced(): boolean;
  get(name: string): SeenPod | undefined;
  all(): IterableIterator<SeenPod>;
  start(): void;
  close(): void;
};

type Log = { warn(details: Coded, message: string): void; info(details: object, message: string): void };

const PAUSES = { firstMs: 200, longestMs: 10_000, spread: true };
/**
 * The server ends a stream after this time. Bookmarks come about once a minute, so a longer silence means a dead
 * connection.
 */
const STREAM_SECONDS = 290;
const SILENCE_MS = 90_000;
const PAGE = 500;

export function createPodWatch(input: {
  api: Pick<ApiClient, 'get' | 'watch'>;
  namespace: string;
  selector: string;
  onChange: (pod: SeenPod) => void;
  onGone: (pod: SeenPod) => void;
  onSynced: () => void;
  /** Called with undefined when the watch works again. The message explains why nothing starts. */
  onTrouble: (message: string | undefined) => void;
  log: Log;
}): PodWatch {
  const { api, namespace, selector, log } = input;
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const pods = new Map<string, SeenPod>();
  const closing = new AbortController();
  let hasSynced = false;

  async function list(): Promise<string> {
    const found = new Map<string, SeenPod>();
    let resourceVersion = '';
    for (let next = ''; ;) {
      const query = { labelSelector: selector, limit: PAGE, ...(next !== '' && { continue: next }) };
      const page = await api.get<PodList>(path, query);
      for (const pod of page.items) found.set(pod.metadata?.name ?? '', trimmed(pod));
      resourceVersion = page.metadata?.resourceVersion ?? '';
      next = page.metadata?.continue ?? '';
      if (next === '') break;
    }
    // Pods that were deleted since the last list, or replaced by another pod of the same name.
    for (const [name, known] of pods) if (found.get(name)?.uid !== known.uid) forget(known);
    for (const pod of found.values()) learn(pod);
    return resourceVersion;
  }

  function learn(pod: SeenPod): void {
    if (pods.get(pod.name)?.resourceVersion === pod.resourceVersion) return;
    pods.set(pod.name, pod);
    input.onChange(pod);
  }

  function forget(pod: SeenPod): void {
    pods.delete(pod.name);
    input.onGone(pod);
  }

  /** Follows the stream until it ends. Returns the version to continue from, or rejects. */
  async function follow(from: string): Promise<string> {
    let seen = from;
    let expired: unknown;
    const onEvent = ({ type, object }: WatchEvent): void => {
      if (type === 'ERROR') {
        expired = object;
        return;
      }
      // A bookmark has only the version of a pod, not even a list of containers.
      seen = (object as V1Pod).metadata?.resourceVersion || seen;
      if (type === 'BOOKMARK') return;
      const pod = trimmed(object as V1Pod);
      if (type === 'DELETED') forget(pod);
      else learn(pod);
    };
    const query = {
      labelSelector: selector,
      resourceVersion: from,
      allowWatchBookmarks: true,
      timeoutSeconds: STREAM_SECONDS,
    };
    await api.watch(path, query, { signal: closing.signal, silenceMs: SILENCE_MS, onEvent });
    if (expired !== undefined) throw new WatchExpired((expired as { message?: string }).message ?? 'expired');
    return seen;
  }

  async function run(): Promise<void> {
    const pauses = createBackoff(PAUSES);
    let from = '';
    while (!closing.signal.aborted) {
      try {
        if (from === '') {
          from = await list();
          if (!hasSynced) log.info({ pods: pods.size }, 'kubernetes: the pods of this control plane are known');
          hasSynced = true;
          input.onSynced();
          input.onTrouble(undefined);
        }
        from = await follow(from);
        pauses.reset();
      } catch (error) {
        if (closing.signal.aborted) return;
        if (error instanceof WatchExpired || hasStatus(error, 410)) {
          from = ''; // too old to continue from: list all pods again
          continue;
        }
        const message = (error as Error).message;
        log.warn({ code: 'SVC3026', err: error }, 'kubernetes: the pods cannot be watched: tried again');
        input.onTrouble(`the API server cannot be reached: ${message}`);
        from = ''; // cheap, and finds what the broken stream had not reported
        await sleep(pauses.next(), undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  return {
    hasSynced: () => hasSynced,
    get: (name) => pods.get(name),
    all: () => pods.values(),
    start: () => void run(),
    close: () => closing.abort(),
  };
}

/** The list as it is sent. The client library has another name for `continue`. */
type PodList = { items: V1Pod[]; metadata?: { continue?: string; resourceVersion?: string } };

class WatchExpired extends Error {}

/** The API writes moments as text, although its types say Date. */
const text = (moment: unknown): string | undefined => (moment === undefined ? undefined : String(moment));

function trimmed({ metadata, spec, status }: V1Pod): SeenPod {
  return {
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
    createdAt: text(metadata?.creationTimestamp) ?? '',
    deletedAt: text(metadata?.deletionTimestamp),
    labels: metadata?.labels ?? {},
    annotations: metadata?.annotations ?? {},
    nodeName: spec?.nodeName,
    image: spec?.containers[0]?.image,
    memoryLimit: spec?.containers[0]?.resources?.limits?.['memory'],
    deadlineSeconds: spec?.activeDeadlineSeconds,
    status: status ?? {},
  };
}
