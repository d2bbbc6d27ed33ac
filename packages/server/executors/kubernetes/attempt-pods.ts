/**
 * The attempts whose pods this process manages, from the claim to the removal of the pod.
 *
 *   hold ─▶ create ─▶ waiting ─▶ running ─▶ ended ─▶ removed
 *             ▲          │ unable to start, or not in time
 *             └─ pause ◀─┘ three times, and then the attempt has failed
 *
 * The cluster and the database know everything that this process remembers. Several processes may manage the same pod,
 * for example when one of them was wrongly considered dead. Names derive from the attempt, so they create the same pod.
 * The attempt's id fences their reports.
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
  /** Builds the pod for the identity and sends it to the cluster. */
  create: (identity: PodIdentity) => Promise<CreateAnswer>;
  note: NoteAttempt;
  /** How many pods are created at the same time. */
  concurrency: number;
  startTimeoutMs: number;
  keepFailedMs: number;
  onRoom: () => void;
  podOf: (name: string) => SeenPod | undefined;
  log: AgentLog;
  /** The pauses between dispatches of the same attempt. Shorter in tests. */
  pauses?: { firstMs: number; longestMs: number };
};

type Held = {
  identity: PodIdentity;
  /** When the pod was created, by our own clock. Undefined until then. */
  madeAt: number | undefined;
  /** True after the watch has seen the pod. If the watch no longer knows it then, it is gone. */
  isSeen: boolean;
  isRunning: boolean;
  isCancelled: boolean;
  /** The last reported reason why it waits. */
  wait: string;
};

export const MAX_DISPATCHES = 3;
const PAUSES = { firstMs: 5_000, longestMs: 60_000, spread: true };
const REPORTS = { firstMs: 250, longestMs: 15_000, spread: true };
/** If a container does not start and the cluster gives no reason for this long, its events are read. */
const QUIET_START_MS = 10_000;
const UNSEEN_MS = 30_000;
const REMEMBERED = 20_000;

export class AttemptPods {
  readonly #options: AttemptPodsOptions;
  readonly #creation: PodCreation;
  readonly #held = new Map<string, Held>();
  /** Attempts that are over. */
  readonly #over = new LRUCache<string, true>({ max: REMEMBERED });
  readonly #closing = new AbortController();

  constructor(options: AttemptPodsOptions) {
    this.#options = options;
    this.#creation = createPodCreation(options);
  }

  /** The number that counts against the capacity. Triggerers do not count. */
  get size(): number {
    return [...this.#held.values()].filter(({ identity }) => identity.kind !== 'triggerer').length;
  }

  has(attemptId: string): boolean {
    return this.#held.has(attemptId);
  }

  /** Creates the pod of a claimed attempt, a callback, or a triggerer. */
  hold(identity: Omit<PodIdentity, 'dispatch'>): void {
    if (this.#held.has(identity.attemptId)) return;
    this.#make(fresh({ ...identity, dispatch: 1 }));
  }

  /** Takes over the pod of another process whose attempt is live. */
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

  /** Called when the agent has reported the end of the attempt, or was told not to begin. */
  reported(attemptId: string): void {
    this.#release(attemptId);
  }

  /** The agent also learns it with its heartbeat, and has the grace period for its last lines. */
  cancel(attemptId: string): void {
    const known = this.#held.get(attemptId);
    if (!known) return;
    known.isCancelled = true;
    if (known.madeAt === undefined) this.#release(attemptId);
    else void this.#options.requests.remove(podName(known.identity));
  }

  /** Handles a change of a pod that the watch reports. */
  changed(pod: SeenPod, identity: PodIdentity): void {
    // The pod of an earlier dispatch is being removed and means nothing for the attempt.
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

  /** Renews the leases of waiting attempts. When they run, their agents do it. */
  async renewLeases(): Promise<void> {
    const { findLive, heartbeat } = this.#options.attempts;
    const notSeenRunning = [...this.#held.values()].filter(
      ({ identity, isRunning }) => !isRunning && identity.kind === 'task',
    );
    // If a node dies right after the agent has asked to start, the cluster never reports that the pod runs.
    const live = notSeenRunning.length > 0 && (await findLive(notSeenRunning.map(({ identity }) => identity)));
    for (const known of notSeenRunning) known.isRunning ||= live && live.get(known.identity.attemptId) === 'running';
    const waiting = notSeenRunning.filter(({ isRunning }) => !isRunning);
    const stopped = await heartbeat(waiting.map(({ identity }) => identity));
    for (const attemptId of stopped) this.cancel(attemptId);
  }

  /** Finds pods that take too long to start, and ends that were missed. */
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
        // It may have been cancelled before the answer arrived.
        if (!isWanted() && !this.#over.has(identity.attemptId)) void this.#options.requests.remove(podName(identity));
      },
      onRefused: (failure) => this.#failDispatch(known, failure),
      onWait: (wait) => this.#tellWait(known, wait),
    });
  }

  /** The pod did not start, and none of the author's code has run. It is created again, a limited number of times. */
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
    this.#options.attempts.noteWait(known.identity, wait).catch(() => {}); // for people; reported again when it changes
  }

  async #tellLost(
    identity: PodIdentity,
    failure: PodFailure,
    how: { hasBegun: boolean; hasGivenUp?: boolean },
  ): Promise<void> {
    if (identity.kind === 'callback') return; // a callback that was under way counts as called
    const reports = createBackoff(REPORTS);
    while (!this.#closing.signal.aborted) {
      try {
        if (identity.kind === 'triggerer')
          return await this.#options.attempts.triggererLost(identity, `${failure.cause}: ${failure.text}`);
        return await this.#options.attempts.lost(identity, failure, how);
      } catch (error) {
        const details = { code: 'SVC3001', err: error, attempt: identity.attemptId } as const;
        this.#options.log.warn(details, 'a lost attempt could not be recorded: tried again');
        await this.#pause(reports.next());
      }
    }
  }

  /** The container has ended. If the agent has not reported the end of the attempt, this reports the loss. */
  async #settle(identity: PodIdentity, failure: PodFailure): Promise<void> {
    const { attemptId } = identity;
    if (this.#over.has(attemptId) || identity.kind === 'callback') return this.#release(attemptId);
    if (identity.kind === 'triggerer') {
      this.#release(attemptId);
      return this.#tellLost(identity, failure, { hasBegun: true });
    }
    const state = await this.#stateOf(identity);
    if (state === 'unknown' || this.#isSuperseded(identity)) return; // an unknown state is checked again by lookAfter
    const known = this.#held.get(attemptId);
    if (state === 'queued' && known) return this.#failDispatch(known, failure);
    this.#release(attemptId);
    if (state === undefined) return;
    await this.#options.note(identity, `The task was lost: ${failure.cause}: ${failure.text}`, 'error');
    // Begun even if it was waiting a moment ago, because the remains of its pod may still start it.
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
      // A registry that is slow to refuse has the same cause.
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
