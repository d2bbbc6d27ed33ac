/**
 * Runs attempts: takes assignments, renews their credentials, learns which must stop, and knows when everything is
 * reported. Its callers provide the assignments (work.ts, run-one.ts).
 */
import { hostname } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Assignment, ReceivedVersion } from '@svc/proto/agent-service.ts';
import { MAX_HEARTBEAT_TOKENS } from '@svc/proto/limits.ts';
import { WORKER_VARIABLE } from '@svc/proto/marked-processes.ts';
import { TASK_USER_VARIABLE, readTaskUser } from '@svc/proto/task-user.ts';
import { coded } from './coded.ts';
import { runAttempt } from './attempt.ts';
import type { AttemptInput, RunningAttempt } from './attempt.ts';
import type { ControlPlane } from './contact/control-plane.ts';
import { createPythonEnvironments } from './environments.ts';
import type { PythonEnvironments } from './environments.ts';
import { createMemoryWatch } from './exit-cause.ts';
import type { ForkServer } from './fork-server.ts';
import { createCodeTrees } from './code-trees.ts';
import { createForkServers } from './fork-servers.ts';
import { createIsolations } from './isolation.ts';
import type { IsolationKind } from './isolation.ts';
import { failed } from './outcome.ts';
import { secretArguments } from './settings.ts';
import { openTaskSockets } from './task-sockets.ts';
import { readContainerPeak } from './usage.ts';

export type Worker = {
  /** Ignores an attempt that it was given before, because orders may be repeated. */
  accept(assignment: Assignment, started?: AttemptInput['started']): void;
  cancel(attemptIds: readonly string[], reason: string): void;
  /** Takes no more attempts, and gives up those that would never end (triggerers). */
  leave(): void;
  /** Stops all attempts. */
  stop(reason: string): void;
  /** Ends everything at once, because nothing can be reported any more. */
  abandon(): void;
  readonly running: number;
  /** The credentials of its attempts, as many as one message may contain. */
  tokens(): string[];
  /** Prepares a version whose attempts will come. The first of them meets and reports any error. */
  prepare(versionKey: string, token: () => string): void;
  /** Called whenever an attempt is over. */
  onIdle(listener: () => void): void;
  /** Called once, when it must take no more attempts because one has left something behind that others would meet. */
  onDrain(listener: (reason: string) => void): void;
  close(): Promise<void>;
};

type Environment = Readonly<Record<string, string | undefined>>;

const HEARTBEAT_MS = 5_000;
const HEARTBEAT_DEADLINE_MS = 10_000;
const LEASES_MS = 500;
const REMEMBERED = 10_000;
const MAX_SERVER_ERRORS = 20;
const VERSIONS_KEPT = 50;

export async function createWorker(input: {
  controlPlane: ControlPlane;
  workerId: string;
  env: Environment;
  /** Its credential while it takes orders; empty when it wants no other attempts. */
  workerToken?: () => string;
  /**
   * Its credential for heartbeats, for as long as it has one. Otherwise heartbeats use the credential of an attempt.
   */
  credential?: () => string;
  /** True when it shares no disk with the control plane. */
  isRemote?: boolean;
  /** The host that its attempts show; empty: this host. */
  shownAs?: string;
  say: (text: string) => void;
  graceMs?: number;
  /** True when there will be only one attempt. `first`: the Python process that was started for it already. */
  isForOne?: boolean;
  first?: ForkServer | undefined;
  isolation?: IsolationKind;
  /** True when the control plane has started it on its own machine. */
  isLocal?: boolean;
}): Promise<Worker> {
  const { controlPlane, workerId, env, say, credential = () => '' } = input;
  const user = readTaskUser(env[TASK_USER_VARIABLE]);
  const sockets = await openTaskSockets(user);
  const environments = createPythonEnvironments({ env, user, say });
  // Prepared for the first attempt. An attempt that needs it meets and reports an error.
  environments.get([]).catch(() => {});
  const marks = workerId === '' ? {} : { [WORKER_VARIABLE]: workerId };
  const { isForOne, first } = input;
  const { isolation: kind = 'together', isLocal = false } = input;
  const isolations = createIsolations({ kind, env, user, isLocal });
  const servers = createForkServers({
    environments,
    sockets,
    trees: createCodeTrees(env),
    env,
    marks,
    user,
    isForOne,
    first,
    isolation: isolations,
    onUnclean,
    isRemote: input.isRemote,
  });
  const wasOutOfMemory = createMemoryWatch();
  const hidden = secretArguments(env);
  const versions = createVersions(controlPlane);
  const reportProviders = createProviderReports({ controlPlane, environments, versions, isForOne: isForOne === true });
  const attempts = new Map<string, RunningAttempt>();
  /** Attempts that wait for the ends of others, or are being given back. */
  const held = new Set<string>();
  const over = new LRUCache<string, true>({ max: REMEMBERED });
  const abandoned = new AbortController();
  const listeners: (() => void)[] = [];
  const drainListeners: ((reason: string) => void)[] = [];
  let drainReason = '';
  let isDraining = false;
  const workerToken = (): string => (drainReason === '' ? (input.workerToken?.() ?? '') : '');

  /**
   * A warm or remote worker that isolates its attempts leaves as a whole, so that the next attempt meets nothing of
   * what was left. On other workers, the Python process of the version is replaced, which other attempts share.
   */
  function onUnclean(reason: string, server: ForkServer): void {
    servers.retire(server);
    if (!isolations.leavesWhenUnclean)
      return say(coded('SVC8001', `${reason}; the Python process of this version is replaced`));
    if (drainReason !== '') return;
    drainReason = reason;
    say(coded('SVC8002', `${reason}: this worker takes no more attempts, and leaves`));
    if (attempts.size === 0) drain();
  }

  /** Drains only after the report with the reason was accepted. */
  function drain(): void {
    if (drainReason === '' || isDraining) return;
    isDraining = true;
    for (const listener of drainListeners) listener(drainReason);
  }

  function end(attemptId: string): void {
    attempts.delete(attemptId);
    over.set(attemptId, true);
    drain();
    for (const listener of listeners) listener();
  }

  const beats = setInterval(() => void beatAll(controlPlane, [...attempts.values()], credential), HEARTBEAT_MS);
  const leases = setInterval(() => attempts.forEach((attempt) => attempt.endWithLease()), LEASES_MS);

  function accept(assignment: Assignment, started?: AttemptInput['started']): void {
    const { attempt_id: attemptId } = assignment;
    if (attempts.has(attemptId) || held.has(attemptId) || over.has(attemptId)) return;
    if (drainReason !== '') return void giveBack(assignment);
    const ending = isolations.leavesWhenUnclean ? [...attempts.values()].filter((attempt) => attempt.isEnding()) : [];
    if (ending.length === 0) run(assignment, started);
    else void runAfter(ending, assignment, started);
  }

  /** Only when its process is gone is it certain whether an attempt left something behind. */
  async function runAfter(
    ending: readonly RunningAttempt[],
    assignment: Assignment,
    started: AttemptInput['started'],
  ): Promise<void> {
    held.add(assignment.attempt_id);
    await Promise.allSettled(ending.map((attempt) => attempt.over));
    held.delete(assignment.attempt_id);
    if (drainReason === '') run(assignment, started);
    else void giveBack(assignment);
  }

  /** An order can cross the report that this worker leaves. Another worker runs the attempt then. */
  async function giveBack(assignment: Assignment): Promise<void> {
    const { attempt_id: attemptId, token } = assignment;
    held.add(attemptId);
    const outcome = failed('environment_failed', `it was ordered from a worker that leaves: ${drainReason}`);
    const request = { outcome_json: JSON.stringify(outcome), drain_reason: drainReason, not_begun: true };
    const options = { token: () => token, signal: abandoned.signal, maxServerErrors: MAX_SERVER_ERRORS };
    // A refusal means that the attempt is over. Other failures are noticed when this worker is gone.
    await controlPlane.callUntilAnswered('Finish', request, options).catch(() => {});
    held.delete(attemptId);
    over.set(attemptId, true);
    for (const listener of listeners) listener();
  }

  function run(assignment: Assignment, started?: AttemptInput['started']): void {
    const { attempt_id: attemptId } = assignment;
    const attempt = runAttempt({
      assignment,
      ...(started && { started }),
      workerToken,
      drainReason: () => drainReason,
      onUnclean,
      onNext({ assignment: next, started: start }, given) {
        if (next && start) accept(next, { start, ...given });
      },
      controlPlane,
      version: (token) => versions(assignment.version_key, token),
      reportProviders: (token) => void reportProviders(assignment.version_key, token),
      servers,
      sockets,
      user,
      hostname: input.shownAs || hostname(),
      hidden,
      wasOutOfMemory,
      containerPeak: isForOne ? readContainerPeak : undefined,
      signal: abandoned.signal,
      ...(input.graceMs !== undefined && { graceMs: input.graceMs }),
    });
    attempts.set(attemptId, attempt);
    attempt.over
      .catch((error: unknown) =>
        say(coded('SVC8003', `attempt ${attemptId}: ${(error as Error).stack ?? String(error)}`)),
      )
      .finally(() => end(attemptId));
  }

  return {
    accept,
    cancel(attemptIds, reason) {
      for (const attemptId of attemptIds) attempts.get(attemptId)?.cancel(reason);
    },
    leave() {
      for (const attempt of attempts.values()) attempt.leave();
    },
    stop(reason) {
      for (const attempt of attempts.values()) attempt.cancel(reason);
    },
    abandon: () => abandoned.abort(),
    get running() {
      return attempts.size + held.size;
    },
    tokens: () => [...attempts.values()].slice(0, MAX_HEARTBEAT_TOKENS).map((attempt) => attempt.token()),
    prepare(versionKey, token) {
      versions(versionKey, token)
        .then((version) => (version.has_tree ? undefined : servers.get(version)))
        .then((loaded) => loaded?.release())
        .catch((error: unknown) =>
          say(coded('SVC8004', `the DAG version could not be made ready: ${(error as Error).message}`)),
        );
    },
    onIdle: (listener) => void listeners.push(listener),
    onDrain: (listener) => void drainListeners.push(listener),
    async close() {
      clearInterval(beats);
      clearInterval(leases);
      await servers.close();
      isolations.close();
      sockets.close();
    },
  };
}

/** One call for many attempts. After an error the next call follows five seconds later. */
async function beatAll(
  controlPlane: ControlPlane,
  all: readonly RunningAttempt[],
  credential: () => string,
): Promise<void> {
  const attempts = all.filter((attempt) => attempt.needsHeartbeat());
  const calls: Promise<void>[] = [];
  for (let from = 0; from < attempts.length; from += MAX_HEARTBEAT_TOKENS)
    calls.push(beat(controlPlane, attempts.slice(from, from + MAX_HEARTBEAT_TOKENS), credential));
  await Promise.all(calls);
}

async function beat(
  controlPlane: ControlPlane,
  attempts: readonly RunningAttempt[],
  credential: () => string,
): Promise<void> {
  const request = {
    tokens: attempts.map((attempt) => attempt.token()),
    pids: attempts.map((attempt) => attempt.pid() ?? 0),
  };
  const token = (): string => credential() || (attempts[0]?.token() ?? '');
  const options = { token, deadlineMs: HEARTBEAT_DEADLINE_MS };
  const askedAt = performance.now();
  const reply = await controlPlane.callOnce('Heartbeat', request, options).catch(() => undefined);
  for (const [index, { stop, reason, token }] of (reply?.beats ?? []).entries()) {
    if (stop) attempts[index]?.cancel(reason);
    else attempts[index]?.renewLease(askedAt, reply?.lease_ms ?? 0);
    if (!stop && token !== '') attempts[index]?.renew(token);
  }
}

/**
 * Requests a version once for all its attempts, with the credential of the first that needs it. If that attempt ends
 * before the answer, the next one requests it with its own credential.
 */
function createVersions(controlPlane: ControlPlane) {
  const kept = new LRUCache<string, Promise<ReceivedVersion>>({ max: VERSIONS_KEPT });

  function ask(key: string, token: () => string): Promise<ReceivedVersion> {
    const wanted = controlPlane.callUntilAnswered('GetVersion', {}, { token });
    kept.set(key, wanted);
    wanted.catch(() => {
      if (kept.peek(key) === wanted) kept.delete(key);
    });
    return wanted;
  }

  return (key: string, token: () => string): Promise<ReceivedVersion> =>
    kept.get(key)?.catch(() => ask(key, token)) ?? ask(key, token);
}

/**
 * Reports providers for the list that people see, once per version. If it fails, the next attempt of the version tries
 * again. Hosts of workers differ, so each worker reports. Containers for one attempt have the version's image, so one
 * of them is enough.
 */
function createProviderReports(input: {
  isForOne: boolean;
  controlPlane: ControlPlane;
  environments: PythonEnvironments;
  versions: ReturnType<typeof createVersions>;
}) {
  const told = new LRUCache<string, true>({ max: REMEMBERED });
  return async (key: string, token: () => string): Promise<void> => {
    if (told.has(key)) return;
    told.set(key, true);
    try {
      const { dependencies, providers_known: isKnown } = await input.versions(key, token);
      if (input.isForOne && isKnown) return;
      const providers = await input.environments.providers(dependencies);
      if (providers.length === 0 && !input.isForOne) return; // a missing report means the same as an empty one
      const params = JSON.stringify({ providers });
      const request = { method: 'report_providers', params_json: params, request_id: `providers of ${key}` };
      await input.controlPlane.callOnce('Call', request, { token, deadlineMs: HEARTBEAT_DEADLINE_MS });
    } catch {
      told.delete(key);
    }
  };
}
