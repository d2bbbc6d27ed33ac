/** Creates pods, a few at a time. What the cluster does not accept now is tried again for as long as it is wanted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBackoff } from '@svc/spec/backoff.ts';
import type { Backoff } from '@svc/spec/backoff.ts';
import { isOutage } from '../../db/outage.ts';
import { createPassingRefusals } from './passing-refusals.ts';
import type { PassingRefusals } from './passing-refusals.ts';
import type { PodIdentity } from './pod-names.ts';
import type { CreateAnswer } from './pod-requests.ts';
import type { PodFailure, PodWait } from './pod-verdict.ts';

/** One pod to create. */
export type WantedPod = {
  identity: PodIdentity;
  /** Called before each try. */
  isWanted: () => boolean;
  onCreated: () => void;
  onRefused: (failure: PodFailure) => void;
  onWait: (wait: PodWait) => void;
};

export type PodCreation = { add(pod: WantedPod): void; close(): void };

const RETRIES = { firstMs: 250, longestMs: 15_000, spread: true };

type Queued = { pod: WantedPod; retries: Backoff; refusals: PassingRefusals };

export function createPodCreation(input: {
  create: (identity: PodIdentity) => Promise<CreateAnswer>;
  concurrency: number;
  /** How long temporary refusals are tried again. */
  passesWithinMs?: number;
}): PodCreation {
  const { create, concurrency, passesWithinMs } = input;
  const queue: Queued[] = [];
  const closing = new AbortController();
  let active = 0;

  function enqueue(entry: Queued): void {
    if (closing.signal.aborted) return;
    queue.push(entry);
    drain();
  }

  function drain(): void {
    while (active < concurrency && queue.length > 0) {
      const entry = queue.shift();
      if (!entry) return;
      active += 1;
      void createOne(entry).finally(() => {
        active -= 1;
        drain();
      });
    }
  }

  async function createOne(entry: Queued): Promise<void> {
    const { pod, retries, refusals } = entry;
    if (!pod.isWanted()) return;
    const answer = await create(pod.identity).catch(failed);
    if (closing.signal.aborted) return;
    if (answer.kind === 'created') return pod.onCreated();
    if (answer.kind === 'refused') {
      if (!answer.mayPass || refusals.isToBeBelieved()) return pod.onRefused(answer.failure);
      pod.onWait({ reason: 'pod_refused', detail: answer.failure.text });
    } else {
      refusals.forget();
      pod.onWait(answer.wait);
    }
    // A pod that waits does not occupy a place, because it may be the only one that must wait.
    const ms = Math.max((answer.kind === 'later' && answer.afterMs) || 0, retries.next());
    void sleep(ms, entry, { signal: closing.signal, ref: false }).then(enqueue, () => {});
  }

  return {
    add: (pod) => enqueue({ pod, retries: createBackoff(RETRIES), refusals: createPassingRefusals(passesWithinMs) }),
    close() {
      closing.abort();
      queue.length = 0;
    },
  };
}

/**
 * An error outside the cluster: the database is unreachable, the version cannot be read, or it describes no valid pod.
 */
function failed(error: unknown): CreateAnswer {
  const text = (error as Error).message;
  return isOutage(error)
    ? { kind: 'later', wait: { reason: 'pod_waits', detail: text }, afterMs: undefined }
    : { kind: 'refused', failure: { cause: 'dispatch_failed', text } };
}
