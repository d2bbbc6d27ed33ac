/** Start: makes the attempt the running one and returns everything it needs in one answer. */
import { startCallback, startQuestion } from '../db/attempts/callback-requests.ts';
import { findDagTree } from '../db/bundles/archives.ts';
import { readFacts } from '../db/attempts/start-facts.ts';
import type { StartFacts } from '../db/attempts/start-facts.ts';
import type { Database } from '../db/database.ts';
import type { InstanceRow, RunRow } from '../db/schema.ts';
import type { Attempts, HandedOver, ReadStartFacts } from '../engine/shared/attempts.ts';
import { logKeyOf } from './attempt-logs.ts';
import type { LogSink } from './collaborators.ts';
import type { AttemptIdentity } from './credentials.ts';
import { callbackJob, factsQuery, taskJob, timetableJob, triggererJob } from './job.ts';
import type { JobInput, Resume } from './job.ts';
import { findTriggersOf } from '../engine/sql/triggers.ts';
import { isBeforeTimeout } from '../engine/advance/deferred-columns.ts';
import type { TriggerReports } from '../engine/triggers/trigger-reports.ts';
import type { Keyring } from '../vault/keyring.ts';
import { beat } from '../db/processes/heartbeats.ts';
import { openDeferral } from './triggerers/sealed-deferral.ts';
import { refOf } from './triggerers/triggerer-calls.ts';
import type { SecretDelivery } from './secret-delivery.ts';
import type { StageFiles } from './service-options.ts';
import type { LookUpFacts } from './start-facts.ts';
import type { AttemptTask, AttemptVersion, AttemptVersions } from './versions.ts';

export type StartInput = {
  db: Database;
  attempts: Attempts;
  versions: AttemptVersions;
  facts: LookUpFacts;
  secrets: SecretDelivery;
  keyring: Keyring;
  triggers?: (() => TriggerReports) | undefined;
  logs: LogSink;
  settings: {
    baseUrl: string;
    xcomInlineMaxBytes: number;
    xcomMaxBytes: number;
    notesInLogs: boolean;
    traceparent?: ((run: RunRow, attemptId: string) => string | undefined) | undefined;
  };
  /** Called with the run's id as users know it, before the attempt writes to its log. */
  rememberRun(identity: AttemptIdentity, runId: string): void;
  stageFiles: StageFiles;
};

/** The answer to Start without the lease, which begins when the answer is sent. */
export type PreparedStart = { stop: { reason: string } } | { started: { job_json: string; log_offset: number } };

export type StartAttempt = {
  start(identity: AttemptIdentity, worker: { hostname: string; pid: number | null }): Promise<PreparedStart>;
  /** Reads the facts of attempts that start or are handed over. `goOn` receives them. */
  readStartFacts: ReadStartFacts;
  /** Prepares an attempt that runs already, because it was handed over. */
  goOn(identity: AttemptIdentity, handedOver: HandedOver): Promise<PreparedStart>;
};

type Started = Pick<HandedOver, 'run' | 'instance'>;

type Job = Omit<JobInput, 'run'>;

const stop = (reason: string): PreparedStart => ({ stop: { reason } });
const go = (job: string, logOffset = 0): PreparedStart => ({ started: { job_json: job, log_offset: logOffset } });

export function createStartAttempt(input: StartInput): StartAttempt {
  const { db, attempts, versions, facts, secrets, logs, settings, rememberRun, stageFiles } = input;

  async function jobInput(identity: AttemptIdentity, version: AttemptVersion, prepared?: StartFacts): Promise<Job> {
    const found =
      prepared ?? (await facts(identity.tenantId, factsQuery(identity, version.tasks.get(identity.taskId))));
    const bundle = await secrets.atStart({ identity, version, stamp: found.vaultStamp });
    return {
      identity,
      version,
      facts: found,
      secrets: bundle,
      scoping: secrets.scoping,
      ...settings,
      traceparent: undefined,
    };
  }

  async function startTask(
    identity: AttemptIdentity,
    version: AttemptVersion | undefined,
    worker: { hostname: string; pid: number | null },
  ): Promise<PreparedStart> {
    const task = version?.tasks.get(identity.taskId);
    // The facts are read together with the start, and dropped if there is no start.
    const answer = await attempts.start(identity, { ...worker, readStartFacts });
    if (answer.kind === 'stop') return stop(answer.reason);
    if (!version || !task) return refuse(identity);
    return goOnWith(identity, { version, task, ...answer });
  }

  const readStartFacts: ReadStartFacts = (trx, starting) =>
    readFacts(
      trx,
      starting.map((instance) => {
        const task = versions.peek(instance)?.tasks.get(instance.taskId);
        return task && { tenantId: instance.tenantId, query: factsQuery(instance, task) };
      }),
    );

  async function goOnWith(
    identity: AttemptIdentity,
    { version, startFacts, ...rest }: Started & { version: AttemptVersion; task: AttemptTask; startFacts?: unknown },
  ): Promise<PreparedStart> {
    const read = startFacts as StartFacts | undefined; // read by `readStartFacts` above
    return started(identity, { ...rest, job: await jobInput(identity, version, read) });
  }

  async function refuse(identity: AttemptIdentity): Promise<PreparedStart> {
    const text = `version ${identity.versionNumber} of DAG ${identity.dagId} has no task ${identity.taskId}`;
    return fail(identity, { text, retryable: false });
  }

  async function fail(
    identity: AttemptIdentity,
    { text, retryable }: { text: string; retryable: boolean },
  ): Promise<PreparedStart> {
    await attempts.finish(identity, { state: 'failed', retryable, failure: { cause: 'dispatch_failed', text } });
    return stop(text);
  }

  function stage(identity: AttemptIdentity): { stagingDir?: string | undefined; problem?: string } {
    try {
      return { stagingDir: stageFiles(identity) };
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  async function started(
    identity: AttemptIdentity,
    { run, instance, job, task }: Started & { job: Job; task: AttemptTask },
  ): Promise<PreparedStart> {
    rememberRun(identity, run.run_id);
    const { stagingDir, problem } = job.version.hasStaging ? stage(identity) : {};
    if (problem !== undefined) return fail(identity, { text: problem, retryable: true });
    const resume = await resumeOf(instance);
    const offset = await logOffset(identity, run.run_id, instance);
    const traceparent = settings.traceparent?.(run, identity.attemptId);
    const tree = await treeFor(job, run.tree);
    return go(taskJob({ ...job, traceparent, stagingDir, run: { ...run, tree }, task, instance, resume }), offset);
  }

  /** A run keeps its files, unless its DAG says that it does not. */
  const treeFor = async ({ identity, version }: Job, ofRun: string | null): Promise<string | null> =>
    version.usesNewestCode ? findDagTree(db.tenant(identity.tenantId), identity.dagId) : ofRun;

  /**
   * The attempt writes after existing lines: those of an earlier attempt of the try (a rescheduled sensor, a deferred
   * task), and ours about pods that did not start. When neither can exist, no lookup is needed.
   */
  async function logOffset(identity: AttemptIdentity, runId: string, instance: InstanceRow): Promise<number> {
    const isFirst = instance.first_poke_at === null && !settings.notesInLogs;
    return isFirst ? 0 : logs.size(logKeyOf(identity, runId));
  }

  async function startQuestionJob(identity: AttemptIdentity, version: AttemptVersion): Promise<PreparedStart> {
    const question = await startQuestion(db.tenant(identity.tenantId), identity.attemptId);
    if (question === undefined) return stop('the question is answered already');
    const job = await jobInput(identity, version);
    const tree = await findDagTree(db.tenant(identity.tenantId), identity.dagId);
    return go(timetableJob(job, { question, tree }));
  }

  /** Only a resumed try can have waited for a trigger. Without a trigger it was a sensor that pokes again. */
  async function resumeOf(instance: InstanceRow): Promise<Resume | undefined> {
    if (instance.first_poke_at === null) return undefined;
    const [trigger] = await findTriggersOf(db.shared, [instance]);
    if (trigger?.try_number !== instance.try_number) return undefined;
    const hasEvent = trigger.event !== null && (trigger.fires_at === null || isBeforeTimeout(trigger));
    return {
      next_method: trigger.next_method,
      next_kwargs: openDeferral(input.keyring, trigger).nextKwargs,
      event: hasEvent && trigger.event !== null ? trigger.event : JSON.stringify({ error: 'Trigger timeout' }),
    };
  }

  async function startTriggererJob(identity: AttemptIdentity, hostname: string): Promise<PreparedStart> {
    const isWanted = await input.triggers?.().start(refOf(identity), hostname);
    if (!isWanted) return stop('the triggerer is not needed any more');
    await beat(db, { processId: identity.attemptId, hostname, version: '' }, 'triggerer');
    return go(triggererJob(secrets));
  }

  async function startCallbackJob(
    identity: AttemptIdentity,
    version: AttemptVersion | undefined,
  ): Promise<PreparedStart> {
    if (version && identity.run === 0) return startQuestionJob(identity, version);
    const started = version && (await startCallback(db.tenant(identity.tenantId), identity));
    if (!started) return stop('the callback is over');
    rememberRun(identity, started.run.run_id);
    const job = await jobInput(identity, version);
    const task = version.tasks.get(identity.taskId);
    const run = { ...started.run, tree: await treeFor(job, started.run.tree) };
    return go(callbackJob({ ...job, ...started, run, task }));
  }

  return {
    async start(identity, worker) {
      if (identity.kind === 'triggerer') return startTriggererJob(identity, worker.hostname);
      const version = await versions.get(identity);
      return identity.kind === 'callback' ? startCallbackJob(identity, version) : startTask(identity, version, worker);
    },
    readStartFacts,
    async goOn(identity, handedOver) {
      const version = await versions.get(identity);
      const task = version?.tasks.get(identity.taskId);
      return version && task ? goOnWith(identity, { version, task, ...handedOver }) : refuse(identity);
    },
  };
}
