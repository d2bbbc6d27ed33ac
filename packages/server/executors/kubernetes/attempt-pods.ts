/**
 * The attempts whose pods this process looks after, from the claim to the removal of the pod.
 *
 *   hold ─▶ create ─▶ waiting ─▶ running ─▶ ended ─▶ removed
 *             ▲          │ unable to start, or not in time
 *             └─ pause ◀─┘ three times, and then the attempt has failed
 *
 * Nothing is kept here that the cluster and the database do not know. Several processes may look after the same pod, which
 * happens when one of them was thought dead: names come from the attempt, so they make the same pod; what they report is
 * fenced by the attempt's id.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createBackoff } from '@svc/spec/backoff.ts';
import type { NoteAttempt } from '../../agents/attempt-notes.ts';
import type { AgentLog } from '../../agents/collaborators.ts';
import type { Attempts } from '../../engine/shared/attempts.ts';
import { createPodCreation } from './pod-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import { podName } from './pod-names.ts';
import type { PodIdentity } from './pod-names.ts';
import type { CreateAnswer, PodRequests } from './pod-requests.ts';
import { DELETED, judgePod, whyStopped } from './pod-verdict.ts';
import type { PodFailure, PodWait } from './pod-verdict.ts';
import type { SeenPod } from './pod-watch.ts';

export type AttemptPodsOptions = {
  requests: PodRequests;
  attempts: Pick<Attempts, 'lost' | 'heartbeat' | 'findLive' | 'noteWait' | 'triggererLost'>;
  /** Makes the pod for the identity and sends it. */
  create: (identity: PodIdentity) => Promise<CreateAnswer>;
  note: NoteAttempt;
  /** How many are created at the same time. */
  concurrency: number;
  startTimeoutMs: number;
  keepFailedMs: number;
  onRoom: () => void;
  podOf: (name: string) => SeenPod | undefined;
  log: AgentLog;
  /** Between dispatches of the same attempt; shorter in tests. */
  pauses?: { firstMs: number; longestMs: number };
};

type Held = {
  identity: PodIdentity;
  /** When the pod was made, by our own clock; undefined while it is not. */
  madeAt: number | undefined;
  /** By the watch: what was seen and is not there any more is gone. */
  isSeen: boolean;
  isRunning: boolean;
  isCancelled: boolean;
  /** What was last said about why it waits. */
  wait: string;
};

export const MAX_DISPATCHES = 3;
const PAUSES = { firstMs: 5_000, longestMs: 60_000, spread: true };
const REPORTS = { firstMs: 250, longestMs: 15_000, spread: true };
/** After so long without a word about what keeps a container from starting, the cluster's events are looked at. */
const QUIET_START_MS = 10_000;
const UNSEEN_MS = 30_000;
const REMEMBERED = 20_000;

export class AttemptPods {
  readonly #options: AttemptPodsOptions;
  readonly #creation: PodCreation;
  readonly #held = new Map<string, Held>();
  /** Attempts of which nothing more is to come. */
  readonly #over = new LRUCache<string, true>({ max: REMEMBERED });
  readonly #closing = new AbortController();

  constructor(options: AttemptPodsOptions) {
    this.#options = options;
    this.#creation = createPodCreation(options);
  }

  /** What counts against the capacity: triggerers do not. */
  get size(): number {
    return [...this.#held.values()].filter(({ identity }) => identity.kind !== 'triggerer').length;
  }

  has(attemptId: string): boolean {
    return this.#held.has(attemptId);
  }

  /** A claimed attempt, a callback, or a triggerer. */
  hold(identity: Omit<PodIdentity, 'dispatch'>): void {
    if (this.#held.has(identity.attemptId)) return;
    this.#make(fresh({ ...identity, dispatch: 1 }));
  }

  /** A pod that another process has made, whose attempt is live. */
  adopt(pod: SeenPod, identity: PodIdentity): void {
    if (!this.#held.has(identity.attemptId)) {
      this.#held.set(identity.attemptId, { ...fresh(identity), madeAt: performance.now(), isSeen: true });
    }
    this.changed(pod, identity);
  }

  /** Attempts of tasks whose end was not seen yet. */
  tasks(): PodIdentity[] {
    return [...this.#held.values()].map(({ identity }) => identity).filter(({ kind }) => kind === 'task');
  }

  /** The agent has told the end of the attempt, or was told not to begin. */
  reported(attemptId: string): void {
    this.#release(attemptId);
  }

  /** Its agent hears of it as well, and has the grace period for its last words. */
  cancel(attemptId: string): void {
    const known = this.#held.get(attemptId);
    if (!known) return;
    known.isCancelled = true;
    if (known.madeAt === undefined) this.#release(attemptId);
    else void this.#options.requests.remove(podName(known.identity));
  }

  /** What the watch says of a pod. */
  changed(pod: SeenPod, identity: PodIdentity): void {
    // What is left of an earlier dispatch goes away, and means nothing for the attempt.
    if (this.#isSuperseded(identity)) return;
    const known = this.#held.get(identity.attemptId);
    if (known) {
      known.madeAt ??= performance.now();
      known.isSeen = true;
    }
    const verdict = judgePod(pod);
    switch (verdict.kind) {
      case 'waiting':
        if (known && verdict.wait) this.#tellWait(known, verdict.wait);
        return;
      case 'running':
        if (known) known.isRunning = true;
        return;
      case 'unable':
        if (known && !known.isCancelled) this.#failDispatch(known, verdict.failure);
        else this.#removeEnded(pod, { isFailure: false });
        return;
      case 'ended':
        void this.#settle(identity, verdict.failure).then(() =>
          this.#removeEnded(pod, { isFailure: pod.status.phase === 'Failed' }),
        );
    }
  }

  gone(pod: SeenPod, identity: PodIdentity): void {
    if (this.#isSuperseded(identity)) return;
    if (this.#held.get(identity.attemptId)?.isCancelled) return this.#release(identity.attemptId);
    const verdict = judgePod(pod);
    void this.#settle(identity, verdict.kind === 'ended' ? verdict.failure : (whyStopped(pod) ?? DELETED));
  }

  /** Of those that wait: once they run, their agents do it. */
  async renewLeases(): Promise<void> {
    const { findLive, heartbeat } = this.#options.attempts;
    const notSeenRunning = [...this.#held.values()].filter(
      ({ identity, isRunning }) => !isRunning && identity.kind === 'task',
    );
    // A node that dies right after the agent has asked to start never tells the cluster that the pod runs.
    const live = notSeenRunning.length > 0 && (await findLive(notSeenRunning.map(({ identity }) => identity)));
    for (const known of notSeenRunning) known.isRunning ||= live && live.get(known.identity.attemptId) === 'running';
    const waiting = notSeenRunning.filter(({ isRunning }) => !isRunning);
    const stopped = await heartbeat(waiting.map(({ identity }) => identity));
    for (const attemptId of stopped) this.cancel(attemptId);
  }

  /** Pods that take too long, ends that went unnoticed. */
  async lookAfter(): Promise<void> {
    await Promise.all([...this.#held.values()].map((known) => this.#look(known)));
  }

  close(): void {
    this.#closing.abort();
    this.#creation.close();
  }

  #isSuperseded({ attemptId, dispatch }: PodIdentity): boolean {
    const known = this.#held.get(attemptId);
    return known !== undefined && known.identity.dispatch !== dispatch;
  }

  #release(attemptId: string): void {
    this.#over.set(attemptId, true);
    if (this.#held.delete(attemptId)) this.#options.onRoom();
  }

  #make(known: Held): void {
    const { identity } = known;
    this.#held.set(identity.attemptId, known);
    const isWanted = (): boolean => this.#held.get(identity.attemptId) === known && !known.isCancelled;
    this.#creation.add({
      identity,
      isWanted,
      onCreated: () => {
        known.madeAt ??= performance.now();
        // It may have been cancelled while the answer was on its way.
        if (!isWanted() && !this.#over.has(identity.attemptId)) void this.#options.requests.remove(podName(identity));
      },
      onRefused: (failure) => this.#failDispatch(known, failure),
      onWait: (wait) => this.#tellWait(known, wait),
    });
  }

  /** The pod did not start, and nothing of the author's has run: it is made anew, but not for ever. */
  #failDispatch(known: Held, failure: PodFailure): void {
    const { identity } = known;
    if (this.#held.get(identity.attemptId) !== known) return;
    void this.#options.requests.remove(podName(identity));
    if (identity.dispatch >= MAX_DISPATCHES) {
      this.#release(identity.attemptId);
      return void this.#giveUp(identity, failure);
    }
    const ms = pauseBefore(identity.dispatch, this.#options.pauses ?? PAUSES);
    const when = `tried again in ${Math.ceil(ms / 1_000)} s (${identity.dispatch} of ${MAX_DISPATCHES})`;
    const text = `The pod could not be started: ${failure.cause}: ${failure.text}; ${when}`;
    void this.#options.note(identity, text, 'warning');
    this.#tellWait(known, { reason: 'pod_restarts', detail: `${failure.text}; ${when}` });
    const again: Held = { ...fresh({ ...identity, dispatch: identity.dispatch + 1 }), wait: known.wait };
    this.#held.set(identity.attemptId, again);
    void this.#pause(ms).then(() => {
      if (this.#held.get(identity.attemptId) === again) this.#make(again);
    });
  }

  async #giveUp(identity: PodIdentity, failure: PodFailure): Promise<void> {
    const text = `The task could not be started: ${failure.cause}: ${failure.text}`;
    await this.#options.note(identity, text, 'error');
    await this.#tellLost(identity, failure, { hasBegun: false, hasGivenUp: true });
  }

  #tellWait(known: Held, wait: PodWait): void {
    const text = `${wait.reason}: ${wait.detail}`;
    if (text === known.wait || known.identity.kind !== 'task') return;
    known.wait = text;
    this.#options.attempts.noteWait(known.identity, wait).catch(() => {}); // for people; told again when it changes
  }

  async #tellLost(
    identity: PodIdentity,
    failure: PodFailure,
    how: { hasBegun: boolean; hasGivenUp?: boolean },
  ): Promise<void> {
    if (identity.kind === 'callback') return; // as far as anybody can know it has been called
    const reports = createBackoff(REPORTS);
    while (!this.#closing.signal.aborted) {
      try {
        if (identity.kind === 'triggerer')
          return await this.#options.attempts.triggererLost(identity, `${failure.cause}: ${failure.text}`);
        return await this.#options.attempts.lost(identity, failure, how);
      } catch (error) {
        const details = { err: error, attempt: identity.attemptId };
        this.#options.log.warn(details, 'a lost attempt could not be recorded: tried again');
        await this.#pause(reports.next());
      }
    }
  }

  /** Its container is over. When the agent has not told the end of the attempt, nobody else will. */
  async #settle(identity: PodIdentity, failure: PodFailure): Promise<void> {
    const { attemptId } = identity;
    if (this.#over.has(attemptId) || identity.kind === 'callback') return this.#release(attemptId);
    if (identity.kind === 'triggerer') {
      this.#release(attemptId);
      return this.#tellLost(identity, failure, { hasBegun: true });
    }
    const state = await this.#stateOf(identity);
    if (state === 'unknown' || this.#isSuperseded(identity)) return; // the first is looked at again, by lookAfter
    const known = this.#held.get(attemptId);
    if (state === 'queued' && known) return this.#failDispatch(known, failure);
    this.#release(attemptId);
    if (state === undefined) return;
    await this.#options.note(identity, `The task was lost: ${failure.cause}: ${failure.text}`, 'error');
    // Also of one that waited a moment ago: what is left of its pod may start it still, and then it has begun.
    await this.#tellLost(identity, failure, { hasBegun: true });
  }

  async #stateOf(identity: PodIdentity): Promise<'queued' | 'running' | 'unknown' | undefined> {
    try {
      return (await this.#options.attempts.findLive([identity])).get(identity.attemptId);
    } catch {
      return 'unknown';
    }
  }

  #removeEnded(pod: SeenPod, { isFailure }: { isFailure: boolean }): void {
    if (pod.deletedAt !== undefined || this.#closing.signal.aborted) return;
    if (isFailure && Date.now() - endOf(pod) < this.#options.keepFailedMs) return;
    void this.#options.requests.remove(pod.name);
  }

  async #look(known: Held): Promise<void> {
    const { identity, madeAt } = known;
    if (madeAt === undefined || this.#held.get(identity.attemptId) !== known) return;
    const { requests, podOf, startTimeoutMs } = this.#options;
    const pod = podOf(podName(identity));
    const age = performance.now() - madeAt;
    if (!pod) {
      if (age > UNSEEN_MS || known.isSeen) await this.#settle(identity, DELETED);
      return;
    }
    const verdict = judgePod(pod);
    if (verdict.kind === 'ended') return this.changed(pod, identity);
    if (verdict.kind !== 'waiting' || known.isRunning) return;
    const reason = verdict.wait?.detail ?? '';
    if (age > startTimeoutMs) {
      const why = reason || (await requests.complaint(pod.name)) || 'the cluster does not say why';
      const text = `after ${Math.round(age / 1_000)} s (executor.pod_start_timeout): ${why}`;
      // A registry that is slow to refuse refuses all the same.
      const cause = verdict.wait?.reason === 'image_pull' ? 'image_unavailable' : 'pod_not_started';
      return this.#failDispatch(known, { cause, text });
    }
    if (reason === '' && age > QUIET_START_MS) {
      const complaint = await requests.complaint(pod.name);
      if (complaint !== '') this.#tellWait(known, { reason: 'pod_waits', detail: complaint });
    }
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
  }
}

const fresh = (identity: PodIdentity): Held => ({
  identity,
  madeAt: undefined,
  isSeen: false,
  isRunning: false,
  isCancelled: false,
  wait: '',
});

function pauseBefore(dispatch: number, settings: { firstMs: number; longestMs: number }): number {
  const pauses = createBackoff(settings);
  for (let before = 1; before < dispatch; before += 1) pauses.next();
  return pauses.next();
}

function endOf({ status, createdAt }: SeenPod): number {
  const ends = (status.containerStatuses ?? []).map(({ state }) => Date.parse(String(state?.terminated?.finishedAt)));
  return Math.max(...ends.filter((end) => !Number.isNaN(end)), Date.parse(createdAt) || 0);
}
