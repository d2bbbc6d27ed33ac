/**
 * One attempt, from its order to the acknowledgement of its outcome.
 *
 *   order ─▶ Start requested ─┬─▶ started: the job goes to the process ─▶ result, or the process ends ─▶ Finish ─▶ over
 *         └▶ process forked  ─┘   stop: the process is ended, unused ───────────────────────────────────────────▶ over
 *
 * An attempt that comes with the answer to another's Finish is started already and requests no Start.
 *
 * The request and the fork run in parallel, so the process exists when the control plane answers. A process that ends
 * without a result is an outcome too, as is one that cannot be created.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { status } from '@grpc/grpc-js';
import type { Assignment, ReceivedNextAttempt, ReceivedStart, ReceivedVersion } from '@svc/proto/agent-service.ts';
import { memberTexts } from '@svc/spec/json-spans.ts';
import { ATTEMPT_VARIABLE, endMarkedProcesses } from '@svc/proto/marked-processes.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { AskForTree } from './code-trees.ts';
import { createAttemptLog } from './logs/attempt-log.ts';
import type { AttemptLog } from './logs/attempt-log.ts';
import { Refusal } from './contact/control-plane.ts';
import type { ControlPlane } from './contact/control-plane.ts';
import { EnvironmentFailure } from './environments.ts';
import { failureOfExit } from './exit-cause.ts';
import type { ProcessExit } from './exit-cause.ts';
import { LoadFailure } from './fork-server.ts';
import type { ForkServer } from './fork-server.ts';
import type { ForkServers } from './fork-servers.ts';
import { createLease } from './lease.ts';
import { createMasks } from './logs/masks.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { parseExact } from '@svc/spec/exact-json.ts';
import { failed, outcomeOfResult } from './outcome.ts';
import type { Outcome, ResultMessage } from './outcome.ts';
import { codeOf } from './reply-codes.ts';
import { startTaskProcess } from './task-process.ts';
import type { TaskProcess } from './task-process.ts';
import type { TaskSockets } from './task-sockets.ts';
import { withUsage } from './usage.ts';

export type AttemptInput = {
  assignment: Assignment;
  /** Given when the attempt was started already. `askedAt`: the moment of the call whose answer contained it. */
  started?: { start: ReceivedStart; askedAt: number };
  /** The credential of a worker that would continue with another attempt; empty when it would not. */
  workerToken: () => string;
  /** Why the worker takes no more attempts; empty while it does. */
  drainReason: () => string;
  /** Called with what this attempt leaves behind, as soon as that is known. */
  onUnclean: (reason: string, server: ForkServer) => void;
  /** Called with the next attempt that the worker was handed. */
  onNext: (next: ReceivedNextAttempt, given: { askedAt: number }) => void;
  controlPlane: ControlPlane;
  version: (token: () => string) => Promise<ReceivedVersion>;
  /** Reports to the control plane, once per version, which packages its environment has. */
  reportProviders: (token: () => string) => void;
  servers: ForkServers;
  sockets: TaskSockets;
  /** The user that runs its process. Undefined: the user of the agent. */
  user: TaskUser | undefined;
  hostname: string;
  /** Texts that no task of this agent may show. */
  hidden: readonly string[];
  wasOutOfMemory: () => boolean;
  /** Given in a container for one attempt: its largest memory until now. */
  containerPeak?: (() => number | undefined) | undefined;
  /** Aborted when nothing can be reported any more. */
  signal: AbortSignal;
  graceMs?: number;
};

export type RunningAttempt = {
  readonly attemptId: string;
  token(): string;
  renew(token: string): void;
  /** True when it has started and its outcome is not acknowledged yet. */
  needsHeartbeat(): boolean;
  /** True while its outcome is being reported, or afterwards. Its process may still exist. */
  isEnding(): boolean;
  /** The id of its process; undefined until there is one. */
  pid(): number | undefined;
  cancel(reason: string): void;
  /** Called when its worker takes no more attempts. */
  leave(): void;
  /** Notes an answer that renews its lease. */
  renewLease(askedAt: number, ms: number): void;
  /** Ends the task before another worker could start to run it. */
  endWithLease(): void;
  readonly over: Promise<void>;
};

type Job = { kind?: string; spec?: { execution_timeout?: number | null }; masks?: string[]; tree?: string };

/** A method of the agent, not of the control plane: masks secrets that the task has fetched elsewhere. */
const OWN_METHOD = 'add_masks';
const GRACE_MS = 5_000;
/** The task ends itself at its execution_timeout. After this additional time the agent ends it. */
const TIMEOUT_SLACK_MS = 5_000;
/** About a minute and a half of tries, with the pauses between them. */
const MAX_SERVER_ERRORS = 20;
const treeOf = (job: string): string | undefined => (JSON.parse(job) as Job).tree;

const NOT_ACCEPTED = new Set<status>([status.INVALID_ARGUMENT, status.INTERNAL, status.UNKNOWN, status.OUT_OF_RANGE]);

export function runAttempt(input: AttemptInput): RunningAttempt {
  const attempt = new Attempt(input);
  return {
    attemptId: input.assignment.attempt_id,
    token: () => attempt.token,
    renew: (token) => (attempt.token = token),
    needsHeartbeat: () => attempt.needsHeartbeat,
    isEnding: () => attempt.isEnding,
    pid: () => attempt.pid,
    cancel: (reason) => attempt.cancel(reason),
    leave: () => attempt.leave(),
    renewLease: (askedAt, ms) => attempt.lease.renew(askedAt, ms),
    endWithLease: () => attempt.endWithLease(),
    over: attempt.run(),
  };
}

class Attempt {
  token: string;
  needsHeartbeat = false;
  isEnding = false;
  readonly lease = createLease();
  readonly #input: AttemptInput;
  readonly #masks = createMasks();
  readonly #log: AttemptLog;
  #process: TaskProcess | undefined;
  #server: ForkServer | undefined;
  #hasExited = false;
  #startedAt = 0;
  #executionTimeout: number | null = null;
  #result: Outcome | undefined;
  #cancelled: string | undefined;
  #isTimedOut = false;
  #isTriggerer = false;
  #isLeaving = false;
  #isUnclean = false;
  #resulted = Promise.withResolvers<void>();
  /** Resolves with the job. Rejects when the attempt does not run. */
  #job = Promise.withResolvers<string>();
  /** The tree that its process was launched with. */
  #tree: string | undefined;

  constructor(input: AttemptInput) {
    this.#input = input;
    this.token = input.assignment.token;
    this.#masks.add(input.hidden);
    this.#log = createAttemptLog({
      append: (chunk) =>
        input.controlPlane.callUntilAnswered('AppendLog', chunk, { token: () => this.token, signal: input.signal }),
      masks: this.#masks,
      signal: input.signal,
      onRoom: () => this.#process?.resume(),
    });
  }

  get pid(): number | undefined {
    return this.#process?.pid();
  }

  async run(): Promise<void> {
    this.#job.promise.catch(() => {}); // a launch that does not need it never waits
    try {
      const launching = this.#launch();
      launching.catch(() => {}); // awaited below, when the attempt has started
      const job = await this.#start();
      if (job === undefined) this.#job.reject(new Error('the attempt does not run'));
      else this.#job.resolve(job);
      if (job !== undefined) await this.#runJob(job, launching);
      else (await launching.catch(() => undefined))?.stop();
      await this.#process?.exited;
    } catch (error) {
      this.#job.reject(error);
      // Aborted, or refused for good: no control plane takes a report, and the process must end.
      this.#process?.stop();
      await this.#process?.exited;
      if (!(error instanceof Refusal) && !this.#input.signal.aborted) throw error;
    } finally {
      this.needsHeartbeat = false;
      this.#log.close();
    }
  }

  cancel(reason: string): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#log.note(`the attempt is stopped: ${reason}`, 'warning');
    this.#process?.stop();
  }

  /** Tasks run to their ends. A triggerer would wait forever, and another worker can continue with its triggers. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#isTriggerer) this.cancel('the agent leaves');
  }

  endWithLease(): void {
    if (!this.needsHeartbeat || this.#result || !this.lease.hasEnded()) return;
    this.cancel('no control plane could be reached, and another may take it over');
    this.#process?.kill();
  }

  /** Returns the job, or undefined when the attempt must not run. */
  async #start(): Promise<string | undefined> {
    const { controlPlane, hostname, signal, started } = this.#input;
    if (started) return this.#begin(started.start, started.askedAt);
    let askedAt = 0;
    const token = (): string => {
      askedAt = performance.now(); // called for each try of the call
      return this.token;
    };
    const request = { hostname, pid: 0 };
    const { started: start } = await controlPlane.callUntilAnswered('Start', request, { token, signal });
    return start ? this.#begin(start, askedAt) : undefined;
  }

  #begin(start: ReceivedStart, askedAt: number): string {
    this.lease.renew(askedAt, start.lease_ms);
    this.needsHeartbeat = true;
    this.#log.begin(start.log_offset);
    return start.job_json;
  }

  async #launch(): Promise<TaskProcess> {
    const version = await this.#input.version(() => this.token);
    // Which files the run has is known with the job. Other versions are loaded while the start is under way.
    return this.#launchIn(version, version.has_tree ? treeOf(await this.#job.promise) : undefined);
  }

  async #launchIn(version: ReceivedVersion, tree: string | undefined): Promise<TaskProcess> {
    const { assignment, controlPlane, servers, signal, sockets, graceMs = GRACE_MS } = this.#input;
    this.#tree = tree;
    const ask: AskForTree = async (method, params) => {
      const request = { method, params_json: JSON.stringify(params), request_id: randomUUID() };
      const reply = await controlPlane.callUntilAnswered('Call', request, {
        token: () => this.token,
        signal,
        maxServerErrors: MAX_SERVER_ERRORS,
      });
      return reply.value_json;
    };
    const { server, notes, release } = await servers.get(version, tree === undefined ? undefined : { tree, ask });
    for (const note of notes) this.#log.note(note, 'warning');
    this.#server = server;
    const process = startTaskProcess({
      attemptId: assignment.attempt_id,
      server,
      sockets,
      graceMs,
      onLine: (line) => this.#onMessage(line),
      onOutput: (name, chunk) => this.#log.output(name, chunk),
      onOutputEnded: (name) => this.#log.outputEnded(name),
    });
    this.#process = process;
    void process.exited.then(({ unclean }) => {
      this.#hasExited = true;
      if (unclean !== undefined && !this.#isUnclean) this.#log.note(unclean, 'warning');
      release();
    });
    await process.connected.catch(() => {}); // `exited` reports how it ended
    return process;
  }

  /** The version may have got its first tree since the agent has read it. Then it is launched again. */
  async #launchedIn(tree: string | undefined, launching: Promise<TaskProcess>): Promise<TaskProcess> {
    const launched = await launching;
    if (this.#tree === tree) return launched;
    launched.kill();
    await launched.exited;
    this.#hasExited = false;
    return this.#launchIn(await this.#input.version(() => this.token), tree);
  }

  async #runJob(job: string, launching: Promise<TaskProcess>): Promise<void> {
    const { kind, masks = [], spec, tree } = JSON.parse(job) as Job;
    this.#isTriggerer = kind === 'triggerer';
    if (this.#isLeaving) this.leave();
    this.#masks.add(masks);
    this.#executionTimeout = spec?.execution_timeout || null; // absent or zero means no limit
    const launched = await this.#launchedIn(tree, launching).catch((error: unknown) =>
      outcomeOfLaunch(error, this.#input, this.#log),
    );
    if (!('exited' in launched)) return this.#deliver(launched);
    this.#startedAt = performance.now();
    const watch = this.#watchTimeout(launched);
    // Only this process gets the secrets of the attempt, never the fork server.
    if (this.#cancelled === undefined) launched.send(`{"type":"job",${job.slice(1)}`);
    else launched.stop();
    this.#input.reportProviders(() => this.token); // after the job, so that it does not delay the task
    const exit = await Promise.race([launched.exited, this.#resulted.promise]);
    clearTimeout(watch);
    if (exit) await this.#endStrayProcesses();
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const outcome = this.#result ?? this.#outcomeOfExit(exit ?? { status: null, signal: null });
    const containerPeak = this.#input.containerPeak ?? (() => undefined);
    await this.#deliver(withUsage(outcome, { exit: exit ?? undefined, seconds, containerPeak }));
    await this.#awaitExit(launched);
  }

  /**
   * For a process that ended without a result. Its server ends the descendants that it knows. A mark in the environment
   * identifies the others.
   */
  async #endStrayProcesses(): Promise<void> {
    const { assignment, user } = this.#input;
    const left = await endMarkedProcesses(ATTEMPT_VARIABLE, assignment.attempt_id, user);
    if (left.length > 0)
      this.#log.note(`processes that the task started could not be ended: ${left.join(', ')}`, 'error');
  }

  #watchTimeout(process: TaskProcess): NodeJS.Timeout | undefined {
    if (this.#executionTimeout === null) return undefined;
    return setTimeout(
      () => {
        this.#isTimedOut = true;
        this.#log.note('the task did not end by itself at its execution_timeout, and is ended', 'error');
        process.stop();
      },
      Math.min(this.#executionTimeout * 1_000 + TIMEOUT_SLACK_MS, 2 ** 31 - 1),
    );
  }

  #outcomeOfExit(exit: ProcessExit): Outcome {
    if (this.#isTimedOut) {
      return failed(
        'execution_timeout',
        `the task ran longer than its execution_timeout of ${this.#executionTimeout} s`,
      );
    }
    if (this.#cancelled !== undefined) return failed('process_killed', `the attempt was stopped: ${this.#cancelled}`);
    const failure = failureOfExit(exit, this.#input.wasOutOfMemory);
    this.#log.note(failure.text ?? failure.cause, 'error');
    return { state: 'failed', failure };
  }

  /**
   * Reports the outcome as soon as it is known. The process may need a moment longer to end and to write its last line.
   */
  async #deliver(outcome: Outcome): Promise<void> {
    this.isEnding = true;
    const seen = { endedAt: nowIso(), pid: this.pid };
    try {
      await this.#finish({ ...outcome, ...seen }, MAX_SERVER_ERRORS);
    } catch (error) {
      if (!(error instanceof Refusal) || !NOT_ACCEPTED.has(error.code)) throw error;
      // The outcome contains something that is refused. The end of the task must still be reported.
      this.#log.note(`the outcome of the task was not accepted: ${error.message}`, 'error');
      await this.#finish(
        { ...failed('exception', `its outcome was not accepted: ${error.message}`), ...seen },
        Infinity,
      );
    }
    this.needsHeartbeat = false;
  }

  async #finish(outcome: Outcome, maxServerErrors: number): Promise<void> {
    const { controlPlane, workerToken, onNext, signal } = this.#input;
    const { offset, data } = await this.#log.tail();
    const request = {
      outcome_json: JSON.stringify(outcome),
      log_offset: offset,
      log_data: data,
      log_goes_on: this.#process !== undefined && !this.#hasExited,
      drain_reason: this.#input.drainReason(),
    };
    let askedAt = 0;
    const token = (): string => {
      askedAt = performance.now();
      return this.token;
    };
    // A repeated Finish sends the same request, because a lost answer may have handed over an attempt.
    const options = { token, signal, maxServerErrors };
    const reply = await controlPlane.callUntilAnswered('Finish', { ...request, worker_token: workerToken() }, options);
    const { next } = reply;
    if (next?.assignment && next.started) onNext(next, { askedAt });
    this.#log.acknowledge(reply.log_length);
  }

  async #awaitExit(process: TaskProcess): Promise<void> {
    const late = setTimeout(() => process.stop(), GRACE_MS);
    await process.exited;
    clearTimeout(late);
    await this.#log.flush();
  }

  #onMessage(line: string): void {
    const message = parse(line);
    switch (message?.type) {
      case 'log':
        if (Array.isArray(message.records)) this.#log.write(message.records);
        if (this.#log.isFull()) this.#process?.pause();
        return;
      case 'request':
        return void this.#relayCall(line, message);
      case 'result':
        return this.#onResult(line, message);
      default:
        this.#result ??= failed('exception', 'the task process sent something that cannot be read');
        this.#process?.stop();
    }
  }

  #onResult(line: string, message: TaskMessage): void {
    if (this.#result) return;
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    this.#result = outcomeOfResult(line, message, { seconds, executionTimeout: this.#executionTimeout });
    this.#onLastWords(message);
    const { failure } = this.#result;
    if (failure?.text !== undefined) failure.text = this.#masks.apply(failure.text);
    // The output that programs printed before the result is in their sockets already. One more turn of the loop reads
    // it.
    setImmediate(() => setImmediate(() => this.#resulted.resolve()));
  }

  /** Sent with the result: what the process leaves behind, and which modules it had to load. */
  #onLastWords({ unclean, late }: TaskMessage): void {
    const server = this.#server;
    if (typeof unclean === 'string' && server) {
      this.#isUnclean = true;
      this.#log.note(unclean, 'warning');
      this.#input.onUnclean(unclean, server);
    }
    if (Array.isArray(late)) server?.loadLate(late.filter((name) => typeof name === 'string'));
  }

  async #relayCall(line: string, { id, method }: { id?: unknown; method?: unknown }): Promise<void> {
    const { controlPlane, signal } = this.#input;
    const params = memberTexts(line).get('params') ?? '{}';
    const request = { method: String(method), params_json: params, request_id: String(id) };
    const head = `{"type":"reply","id":${JSON.stringify(id ?? null)}`;
    if (method === OWN_METHOD) {
      this.#masks.addOwn(textsOf(params));
      this.#process?.send(`${head},"ok":true,"value":null}`);
      return;
    }
    try {
      const reply = await controlPlane.callUntilAnswered('Call', request, { token: () => this.token, signal });
      this.#masks.add(reply.masks);
      const masks = reply.masks.length > 0 ? `,"masks":${JSON.stringify(reply.masks)}` : '';
      this.#process?.send(`${head},"ok":true,"value":${reply.value_json || 'null'}${masks}}`);
    } catch (error) {
      const answer = { error: (error as Error).message, code: codeOf(error) };
      this.#process?.send(`${head},"ok":false,${JSON.stringify(answer).slice(1)}`);
    }
  }
}

function textsOf(params: string): string[] {
  const { values } = JSON.parse(params) as { values?: unknown };
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}

/** The failure also goes to the log, where the author reads it. */
function outcomeOfLaunch(
  error: unknown,
  { wasOutOfMemory }: Pick<AttemptInput, 'wasOutOfMemory'>,
  log: AttemptLog,
): Outcome {
  if (error instanceof LoadFailure) {
    log.note(`the DAG file could not be loaded: ${error.message}\n${error.traceback}`, 'error');
    if (error.killedBy !== undefined) {
      const { cause } = failureOfExit({ status: null, signal: constants.signals[error.killedBy] }, wasOutOfMemory);
      return failed(cause, error.message);
    }
    return failed('dag_file_failed', error.message);
  }
  if (error instanceof EnvironmentFailure) {
    log.note(`the Python environment could not be prepared: ${error.message}\n${error.output}`, 'error');
    return failed('environment_failed', error.message);
  }
  throw error;
}

type TaskMessage = ResultMessage & {
  type?: string;
  records?: unknown;
  id?: unknown;
  method?: unknown;
  unclean?: unknown;
  late?: unknown;
};

function parse(line: string): TaskMessage | undefined {
  try {
    const value = JSON.parse(line) as TaskMessage | null;
    // A result is stored, so its numbers must keep their digits. The many log lines are only passed on.
    if (value?.type === 'result') return parseExact(line) as TaskMessage;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
