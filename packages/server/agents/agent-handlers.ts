/**
 * The handlers of the agent service. Only the credential tells who calls: no message names an attempt, so no caller can
 * name the attempt of another.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import type { AgentHandlers, NextAttempt, Order, StartReply } from '@svc/proto/agent-service.ts';
import { findDagTree } from '../db/bundles/archives.ts';
import { finishCallback } from '../db/attempts/callback-requests.ts';
import { isTaskCurrent } from '../db/attempts/live-attempts.ts';
import { deleteStatesOfSuccess } from '../db/task-instances/task-states.ts';
import { DatabaseBusyError, isOutage } from '../db/outage.ts';
import type {
  AttemptOutcome,
  FinishingWorker,
  HandedOver,
  ReadStartFacts,
  StartedAhead,
} from '../engine/shared/attempts.ts';
import type { VersionRef } from '../engine/shared/dag-graphs.ts';
import { assignmentOf } from './assignment.ts';
import { createAttemptLogs } from './attempt-logs.ts';
import type { AttemptLogs } from './attempt-logs.ts';
import { readOutcome } from './attempt-outcome.ts';
import type { AuthenticateFirst } from './authenticate-first.ts';
import { readParams } from './calls/call-context.ts';
import { createCalls } from './calls/calls.ts';
import { createKnownProviders } from './calls/known-providers.ts';
import type { KnownProviders } from './calls/known-providers.ts';
import type { AttemptIdentity, VerifiedAttempt } from './credentials.ts';
import { createEarlyStarts } from './early-starts.ts';
import type { EarlyStarts } from './early-starts.ts';
import { answerHeartbeat } from './heartbeats.ts';
import type { JoinSide } from './workers/join.ts';
import { createLiveness } from './liveness.ts';
import type { Liveness } from './liveness.ts';
import { createOpenLogs } from './open-logs.ts';
import type { OpenLogs } from './open-logs.ts';
import { createPodExchange } from './pod-exchange.ts';
import type { ReviewedPod } from './pod-exchange.ts';
import { Undecoded, mostInlineBytes } from './request-limits.ts';
import { RpcError, toServiceError } from './rpc-errors.ts';
import { createSecretDelivery } from './secret-delivery.ts';
import type { SecretDelivery } from './secret-delivery.ts';
import type { AgentServiceOptions, AttemptObserver, ExplainStop, StageFiles } from './service-options.ts';
import { createStartAttempt } from './start-attempt.ts';
import type { StartAttempt } from './start-attempt.ts';
import { createStartFacts } from './start-facts.ts';
import type { StoredValues } from '../xcom/stored/stored-values.ts';
import type { ValueCache } from '../xcom/value-cache.ts';
import { beat } from '../db/processes/heartbeats.ts';
import { sealDeferral } from './triggerers/sealed-deferral.ts';
import { createTriggererCalls, refOf } from './triggerers/triggerer-calls.ts';
import { createAttemptVersions } from './versions.ts';
import type { AttemptVersions } from './versions.ts';
import type { WorkerHub } from './workers/worker-hub.ts';
import { runningAttempts, versionOfWorker } from './workers/worker-scope.ts';

/** Created once and used by several calls. */
type Parts = {
  options: AgentServiceOptions;
  earlyStarts: EarlyStarts;
  observers: readonly AttemptObserver[];
  explanations: readonly ExplainStop[];
  workers: WorkerHub;
  starts: StartAttempt;
  versions: AttemptVersions;
  logs: AttemptLogs;
  openLogs: OpenLogs;
  liveness: Liveness;
  delivery: SecretDelivery;
  providers: KnownProviders;
};

/** Starts the attempt that an executor has just ordered, so that the answer is ready when the worker asks to start. */
export type StartEarly = (
  identity: Omit<AttemptIdentity, 'issuedAt'>,
  /** Given when another transaction starts the attempt; resolves with its result. */
  worker: { hostname: string; started?: Promise<StartedAhead> | undefined },
) => void;

type WorkRequest = { hostname: string; pid: number; version: string; running_tokens: string[] };

/** A call in the name of an attempt. */
type Handle<Request, Reply> = (identity: VerifiedAttempt, request: Request) => Promise<Reply>;

export function createHandlers(
  options: AgentServiceOptions,
  input: {
    workers: WorkerHub;
    observers: readonly AttemptObserver[];
    explanations: readonly ExplainStop[];
    callerOf: AuthenticateFirst['callerOf'];
    stageFiles: StageFiles;
    join: JoinSide['join'];
  },
): { handlers: AgentHandlers; startEarly: StartEarly; readStartFacts: ReadStartFacts; isBusy: () => boolean } {
  const { workers, observers, explanations, callerOf, stageFiles } = input;
  const { db, settings, log } = options;
  const versions = createAttemptVersions(db);
  const logs = createAttemptLogs({ db, logs: options.logs, log });
  const delivery = createSecretDelivery({ ...options, scoping: settings.scoping });
  const starts = createStartAttempt({
    ...options,
    versions,
    secrets: delivery,
    facts: createStartFacts(db),
    rememberRun: logs.rememberRun,
    stageFiles,
  });
  const earlyStarts = createEarlyStarts();
  const openLogs = createOpenLogs({ db });
  const liveness = createLiveness({ db, mode: settings.livenessMode, log });
  const parts: Parts = {
    options,
    earlyStarts,
    observers,
    explanations,
    workers,
    starts,
    versions,
    logs,
    openLogs,
    liveness,
    delivery,
    providers: createKnownProviders(),
  };
  const beating = {
    ...options,
    onAlive: (attemptId: string): void => observers.forEach((observer) => observer.alive(attemptId)),
    onCurrent: openLogs.seen,
    isCallbackRunning: liveness.isLive,
    async renewTriggerers(identities: readonly VerifiedAttempt[]): Promise<ReadonlySet<string>> {
      const alive = (await options.triggers?.().renew(identities.map(refOf))) ?? new Set<string>();
      for (const id of alive) await beat(db, { processId: id, hostname: '', version: '' }, 'triggerer');
      return alive;
    },
  };

  const unary =
    <Request, Reply>(method: string, handle: Handle<Request, Reply>) =>
    (call: ServerUnaryCall<Request, Reply>, respond: sendUnaryData<Reply>): void => {
      answer(async () => handle(attemptOf(callerOf(call.metadata)), requestOf(call)), { method, respond });
    };

  let answering = 0;

  function answer<Reply>(
    work: () => Promise<Reply>,
    { method, respond }: { method: string; respond: sendUnaryData<Reply> },
  ): void {
    answering += 1;
    work()
      .then(
        (reply) => respond(null, reply),
        (error: unknown) => respond(toServiceError(error, { log, method })),
      )
      .finally(() => (answering -= 1));
  }

  const exchange = createPodExchange(options);
  const handlers: AgentHandlers = {
    Exchange(call, respond) {
      const work = async () => {
        requestOf(call);
        return exchange(podOf(callerOf(call.metadata)));
      };
      answer(work, { method: 'Exchange', respond });
    },
    Join(call, respond) {
      const work = async () => {
        const caller = callerOf(call.metadata);
        if (caller.kind !== 'joiner') throw new RpcError('unauthenticated', 'this is no token to join with');
        return input.join(caller.token, requestOf(call), call.getPeer());
      };
      answer(work, { method: 'Join', respond });
    },
    Start: unary('Start', startHandler(parts)),
    AppendLog: unary('AppendLog', appendHandler(parts)),
    Finish: unary('Finish', finishHandler(parts)),
    Call: unary('Call', callHandler(parts)),
    GetVersion(call, respond) {
      const work = async () => {
        requestOf(call);
        const ref = await versionFor(callerOf(call.metadata));
        const version = await parts.versions.get(ref);
        if (!version) throw new RpcError('not_found', 'this DAG version has been deleted');
        // A version may get its first tree while it is cached.
        const tree = await findDagTree(db.tenant(ref.tenantId), ref.dagId);
        return { ...version.message, has_tree: tree !== null, providers_known: !parts.providers.ask(ref) };
      };
      answer(work, { method: 'GetVersion', respond });
    },
    Heartbeat(call, respond) {
      const work = async () => {
        const beats = await answerHeartbeat(beating, requestOf(call));
        return { beats, lease_ms: await (options.lease?.() ?? 0) };
      };
      answer(work, { method: 'Heartbeat', respond });
    },
    Work(call: ServerWritableStream<WorkRequest, Order>) {
      const attach = async (): Promise<void> => {
        const caller = callerOf(call.metadata);
        if (caller.kind !== 'worker') throw new RpcError('unauthenticated', 'this is no credential of a worker');
        const { running_tokens: tokens, ...info } = requestOf(call);
        const running = await runningAttempts(options.credentials, caller.worker, tokens);
        await workers.attach(caller.worker, { ...info, running }, call);
      };
      attach().catch((error: unknown) => call.emit('error', toServiceError(error, { log, method: 'Work' })));
    },
  };
  /** Returns the version of an attempt that has not ended, or the version that a warm worker serves. */
  async function versionFor(caller: ReturnType<typeof callerOf>): Promise<VersionRef> {
    if (caller.kind === 'worker') return versionOfWorker(caller.worker);
    const identity = attemptOf(caller);
    // GetVersion is called in parallel with Start, so the attempt may still be queued, or its run may not be stored
    // yet.
    await earlyStarts.settled(identity.attemptId);
    const isOpen = identity.kind !== 'task' || (await isTaskCurrent(db.tenant(identity.tenantId), identity));
    if (!isOpen) throw new RpcError('stale', 'the attempt is over');
    return identity;
  }

  const startEarly: StartEarly = (identity, { hostname, started }) =>
    earlyStarts.begin(identity.attemptId, async () => {
      const own = { ...identity, issuedAt: 0 };
      if (!started) return starts.start(own, { hostname, pid: null });
      const handedOver = (await started)?.get(identity.attemptId);
      if (!handedOver) throw new Error('it was not started');
      return starts.goOn(own, handedOver);
    });
  return { handlers, startEarly, readStartFacts: starts.readStartFacts, isBusy: () => answering > 0 };
}

const ended = ({ observers }: Parts, { attemptId }: { attemptId: string }): void =>
  observers.forEach((observer) => observer.ended(attemptId));

/** Longer reasons are cut, because people see them as the state of a worker. */
const MAX_DRAIN_REASON = 300;

function noteDrain({ observers }: Parts, { attemptId }: VerifiedAttempt, reason: string): void {
  if (reason === '') return;
  for (const observer of observers) observer.workerLeaves?.(attemptId, reason.slice(0, MAX_DRAIN_REASON));
}

function startHandler(parts: Parts) {
  const { options, earlyStarts, observers, starts } = parts;
  return async (
    identity: VerifiedAttempt,
    { hostname, pid }: { hostname: string; pid: number },
  ): Promise<StartReply> => {
    const early = await earlyStarts.take(identity.attemptId);
    const prepared = early?.reply ?? (await starts.start(identity, { hostname, pid: pid === 0 ? null : pid }));
    if ('stop' in prepared) {
      ended(parts, identity);
      return prepared;
    }
    parts.openLogs.seen(identity.attemptId);
    parts.logs.prepare(identity);
    observers.forEach((observer) => observer.started(identity.attemptId));
    const leaseMs = await (options.lease?.() ?? 0);
    // The worker counts from its call, but the lease began with the start.
    const left = leaseMs > 0 ? Math.max(1, Math.floor(leaseMs - (early?.ageMs ?? 0))) : 0;
    return { started: { ...prepared.started, lease_ms: left } };
  };
}

function appendHandler({ logs, openLogs }: Parts) {
  return async (identity: VerifiedAttempt, { offset, data }: { offset: number; data: Buffer }) => {
    if (!(await openLogs.mayWrite(identity))) throw new RpcError('stale', 'the attempt is over: its log is closed');
    return { length: await logs.append(identity, offset, data) };
  };
}

function finishHandler(parts: Parts) {
  const { options, workers, starts, logs, openLogs } = parts;
  const { db, attempts, credentials, settings, log } = options;

  /** Appends the last lines before the outcome is visible. A failure of the log store must not block the outcome. */
  async function appendTail(identity: VerifiedAttempt, offset: number, data: Buffer): Promise<number> {
    if (data.length === 0) return offset;
    // A repeated report has its lines in the log already. The lines of a very late report are dropped.
    if (!(await openLogs.mayWriteLast(identity))) return offset + data.length;
    return logs.append(identity, offset, data, { isLast: true }).catch((error: unknown) => {
      // Without the database the outcome cannot be recorded either. The agent reports both again.
      if (isOutage(error) || error instanceof DatabaseBusyError) throw error;
      log.warn({ code: 'SVC4001', err: error, attempt: identity.attemptId }, 'the end of a log could not be stored');
      return offset + data.length;
    });
  }

  /**
   * Only a worker that could receive orders gets another attempt, because the credential of one attempt must not lead
   * to others.
   */
  async function workerOf(token: string, run: number): Promise<FinishingWorker | undefined> {
    if (token === '') return undefined;
    const known = workers.holderOf(token);
    if (known) {
      const { hostname, takesNew = () => true, isCrowded = () => false, mayRun } = known;
      return {
        hostname,
        takesNew: takesNew(),
        isCrowded: isCrowded(run),
        readStartFacts: starts.readStartFacts,
        ...(mayRun && { mayRun }),
      };
    }
    return (await credentials.verifyWorker(token)) === undefined ? undefined : { hostname: '', takesNew: false };
  }

  /** When this fails, the whole call fails. The agent then reports the same end again and gets the same attempt. */
  async function nextAttemptOf(handedOver: HandedOver): Promise<NextAttempt | undefined> {
    const { queue: _queue, ...attempt } = handedOver.attempt;
    const identity = { kind: 'task' as const, ...attempt };
    const [token, prepared] = await Promise.all([
      credentials.issueAttempt(identity),
      starts.goOn({ ...identity, issuedAt: 0 }, handedOver),
    ]);
    if ('stop' in prepared) {
      ended(parts, identity);
      return undefined;
    }
    openLogs.seen(identity.attemptId);
    logs.prepare({ ...identity, issuedAt: 0 });
    return {
      assignment: assignmentOf(identity, token),
      started: { ...prepared.started, lease_ms: await (options.lease?.() ?? 0) },
    };
  }

  const sealed = (outcome: AttemptOutcome, identity: VerifiedAttempt): AttemptOutcome =>
    outcome.deferral ? { ...outcome, deferral: sealDeferral(options.keyring, outcome.deferral, identity) } : outcome;

  return async (
    identity: VerifiedAttempt,
    request: {
      outcome_json: string;
      log_offset: number;
      log_data: Buffer;
      worker_token: string;
      log_goes_on: boolean;
      drain_reason: string;
      not_begun: boolean;
    },
  ): Promise<{ recorded: boolean; log_length: number; next?: NextAttempt }> => {
    noteDrain(parts, identity, request.drain_reason);
    if (request.not_begun && identity.kind === 'task') {
      const text = `its worker takes no more attempts: ${request.drain_reason.slice(0, MAX_DRAIN_REASON)}`;
      await attempts.lost(identity, { cause: 'agent_lost', text }, { hasBegun: false });
      ended(parts, identity);
      return { recorded: true, log_length: request.log_offset };
    }
    const reported = await withStoredValues(
      options.storedValues,
      identity,
      await readOutcome(request.outcome_json, { maxXcomBytes: mostInlineBytes(settings) }),
    );
    const outcome = versioned(explained(parts, identity, sealed(reported, identity)), options.valueCache);
    // Runs in parallel with the transaction, which waits for it before its commit. Starts after the first statements
    // are sent.
    const appended = nextTurn().then(() => appendTail(identity, request.log_offset, request.log_data));
    appended.catch(() => {}); // reported where it is awaited; the transaction may fail before that
    if (identity.kind === 'triggerer') {
      const hasFailed = outcome.state !== 'success';
      const text = outcome.failure?.text;
      await options.triggers?.().ended(refOf(identity), { hasFailed, ...(text !== undefined && { text }) });
      ended(parts, identity);
      return { recorded: true, log_length: await appended };
    }
    if (identity.kind === 'callback') {
      const state = outcome.state === 'success' ? 'done' : 'failed';
      const recorded = await finishCallback(db.tenant(identity.tenantId), identity.attemptId, state);
      await appended;
      openLogs.finished(identity.attemptId, { logGoesOn: request.log_goes_on });
      ended(parts, identity);
      return { recorded, log_length: await appended };
    }
    const worker = await workerOf(request.worker_token, identity.run);
    const { answer, next } = await attempts.finishAndTakeNext(identity, outcome, { beforeCommit: appended, worker });
    await appended;
    // When the try continues, the log belongs to its next attempt, which writes at its end.
    const isOver = outcome.state !== 'reschedule' && outcome.state !== 'deferred';
    openLogs.finished(identity.attemptId, { logGoesOn: request.log_goes_on && isOver });
    ended(parts, identity);
    if (answer === 'recorded') {
      for (const { value, version } of outcome.xcoms ?? [])
        options.valueCache?.written(identity.tenantId, version, value);
      if (outcome.state === 'success' && settings.stateStore.clearOnSuccess)
        await deleteStatesOfSuccess(db.tenant(identity.tenantId), identity);
    }
    const handedOver = next && (await nextAttemptOf(next));
    return { recorded: answer === 'recorded', log_length: await appended, ...(handedOver && { next: handedOver }) };
  };
}

/** An agent that was stopped cannot know the cause. An executor may know it. */
function explained({ explanations }: Parts, { attemptId }: VerifiedAttempt, outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.failure?.cause !== 'process_killed') return outcome;
  const failure = explanations.map((explain) => explain(attemptId)).find((known) => known !== undefined);
  return failure ? { ...outcome, failure } : outcome;
}

/** A value that the store does not have completely fails the task, because a later task could not read it. */
async function withStoredValues(
  values: StoredValues,
  identity: VerifiedAttempt,
  outcome: AttemptOutcome,
): Promise<AttemptOutcome> {
  const ids = (outcome.xcoms ?? []).flatMap(({ stored }) => (stored ? [stored.id] : []));
  const missing = new Set(await values.missing(identity, ids));
  const lost = outcome.xcoms?.find(({ stored }) => stored && missing.has(stored.id));
  if (!lost) return outcome;
  const text = `the value for ${lost.key} was not stored completely: run the task again`;
  const { endedAt, pid } = outcome;
  return {
    state: 'failed',
    failure: { cause: 'exception', text },
    ...(endedAt !== undefined && { endedAt }),
    ...(pid !== undefined && { pid }),
  };
}

/** Gives versions to values that will be cached after the commit. */
function versioned(outcome: AttemptOutcome, cache: ValueCache | undefined): AttemptOutcome {
  if (!cache || !outcome.xcoms) return outcome;
  return {
    ...outcome,
    xcoms: outcome.xcoms.map((xcom) => ({ ...xcom, version: cache.versionFor(xcom.value) })),
  };
}

function callHandler(parts: Parts) {
  const { options, versions, logs, delivery, liveness } = parts;
  const { settings } = options;
  const calls = createCalls({
    ...options,
    versions,
    delivery,
    maxBytes: settings.xcomMaxBytes,
    inlineMaxBytes: mostInlineBytes(settings),
    stateStore: settings.stateStore,
    liveness,
    providers: parts.providers,
  });
  const callOfTriggerer = createTriggererCalls({
    triggers() {
      if (!options.triggers) throw new RpcError('unknown_method', 'there are no triggerers here');
      return options.triggers();
    },
    keyring: options.keyring,
    versions,
    logs: options.logs,
    runIdOf: logs.runIdOf,
    calls,
  });
  return async (
    identity: VerifiedAttempt,
    request: { method: string; params_json: string; request_id: string },
  ): Promise<{ value_json: string; masks: string[] }> => {
    if (identity.kind === 'triggerer') {
      const { json, masks = [] } = await callOfTriggerer(identity, request);
      return { value_json: json, masks: [...masks] };
    }
    const [version, runId] = await Promise.all([versions.get(identity), logs.runIdOf(identity)]);
    if (!version) throw new RpcError('stale', 'the DAG version of this attempt has been deleted');
    const params = readParams(request.params_json);
    const context = { identity, runId, version, params, requestId: request.request_id };
    const { json, masks = [] } = await calls(request.method, context);
    return { value_json: json, masks: [...masks] };
  };
}

function attemptOf(caller: ReturnType<AuthenticateFirst['callerOf']>): VerifiedAttempt {
  if (caller.kind !== 'attempt') throw new RpcError('unauthenticated', 'this is no credential of an attempt');
  return caller.identity;
}

function podOf(caller: ReturnType<AuthenticateFirst['callerOf']>): ReviewedPod {
  if (caller.kind !== 'pod') throw new RpcError('unauthenticated', 'this is no token of a pod');
  return caller.pod;
}

/** Throws when the message exceeded its limits and was therefore not decoded. */
function requestOf<Request>({ request }: { request: Request | Undecoded }): Request {
  if (request instanceof Undecoded) throw request.error;
  return request;
}
