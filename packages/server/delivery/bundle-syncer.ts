/**
 * Keeps the bundles of all tenants in step with their sources. A process that has the lease of a bundle starts another
 * process, which fetches and compiles, and deploys what that one sends.
 *
 *   due ──lease──▶ fetched and compiled elsewhere ──▶ deployed | unchanged | refused | failed ──▶ due again later
 *
 * When this process dies, the lease runs out and another process begins again. Nothing is current before the
 * transaction of the deployment commits.
 */
import { join } from 'node:path';
import type { BundleJob } from '@svc/proto/bundle-job.ts';
import { taskUserOf } from '@svc/proto/task-user.ts';
import { executorNames, hasExecutor } from '../config/executor-names.ts';
import type { Config } from '../config/load.ts';
import { bundleCacheFolder } from '../config/resolved.ts';
import { removeUnusedArchives } from '../db/bundles/archives.ts';
import { dagsOfBundle, findDeployment, newestRoots, replaceImportErrors } from '../db/bundles/deployments.ts';
import { claimDueBundle, releaseLeases, renewLease, settleSync } from '../db/bundles/sync-lease.ts';
import type { LeasedBundle, SyncEnd } from '../db/bundles/sync-lease.ts';
import type { Database } from '../db/database.ts';
import type { CompileValues } from '../vault/compile-values.ts';
import type { Keyring } from '../vault/keyring.ts';
import { startBundleProcess } from './bundle-process.ts';
import type { BundleProcess, SyncResult } from './bundle-process.ts';
import { commitUrl } from './commit-url.ts';
import { deployCommit, importErrors, problemsOf } from './deploy-commit.ts';
import type { BrokenFile, DeployOutcome } from './deploy-commit.ts';
import { CredentialsError, readCredentials } from './source-credentials.ts';
import { refusedLink, refusedSource } from './source-rules.ts';
import { createArchiveStore } from './store-archive.ts';

type Log = { info(fields: object, message: string): void; warn(fields: object, message: string): void };

export type BundleSyncer = {
  start(): void;
  /** Looks at once whether a bundle is due. */
  wake(): void;
  stop(): Promise<void>;
};

/** Compiling uses all processors, so more bundles at once would only wait for each other. */
const AT_ONCE = 3;
/** A source may take until the timeout to answer. So the bundles of one tenant leave a place to other tenants. */
const OF_ONE_TENANT = 2;
const RENEW_EVERY_MS = 5_000;
/** Progress is written at most this often. */
const SHOW_EVERY_MS = 300;
/** Hosts keep the files of this many deployments, for tasks that still run and for rollbacks. */
const KEPT_ROOTS = 20;
const LONGEST_PAUSE_SECONDS = 3_600;
const FIRST_PAUSE_SECONDS = 10;
const CLEAN_EVERY_MS = 60 * 60 * 1_000;

export function createBundleSyncer(input: {
  config: Config;
  db: Database;
  keyring: Keyring;
  compileValues: (tenantId: string) => CompileValues;
  /** The id of this process. */
  holder: string;
  env: Readonly<Record<string, string | undefined>>;
  log: Log;
}): BundleSyncer {
  const { config, db, keyring, holder, log } = input;
  const running = new Map<Promise<void>, { tenantId: string; process?: BundleProcess }>();
  let timer: NodeJS.Timeout | undefined;
  let cleaning: NodeJS.Timeout | undefined;
  let isStopping = false;
  let isLooking = false;
  let isWanted = false;

  const canBegin = (): boolean => running.size < AT_ONCE && !isStopping;
  const busyTenants = (): string[] => {
    const byTenant = Map.groupBy(running.values(), ({ tenantId }) => tenantId);
    return [...byTenant].flatMap(([tenantId, { length }]) => (length < OF_ONE_TENANT ? [] : [tenantId]));
  };

  async function look(): Promise<void> {
    isWanted = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (isWanted) {
        isWanted = false;
        for (let hasRoom = canBegin(); hasRoom; hasRoom = canBegin()) {
          const bundle = await claimDueBundle(db, { holder, without: busyTenants() });
          if (!bundle) break;
          begin(bundle);
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'bundles that are due could not be read');
    } finally {
      isLooking = false;
    }
  }

  let cleanup: Promise<void> = Promise.resolve();

  /** Removes files that no deployment, DAG or run has any more. */
  function clean(): Promise<void> {
    cleanup = removeUnusedArchives(db).then(
      ({ trees, files }) => {
        if (trees + files > 0) log.info({ trees, files }, 'files of old deployments were removed');
      },
      (error: unknown) => log.warn({ err: error }, 'files of old deployments could not be removed'),
    );
    return cleanup;
  }

  function begin(bundle: LeasedBundle): void {
    const { tenant_id: tenantId } = bundle;
    const done: Promise<void> = sync(bundle, (process) => running.set(done, { tenantId, process }))
      .catch((error: unknown) => log.warn({ err: error, bundle: bundle.name }, 'a bundle was not synced'))
      .finally(() => {
        running.delete(done);
        void look();
      });
    running.set(done, { tenantId });
  }

  async function sync(bundle: LeasedBundle, onStart: (started: BundleProcess) => void): Promise<void> {
    const tenant = db.tenant(bundle.tenant_id);
    const { name } = bundle;
    let text = '';
    let shownAt = 0;
    const renew = (): void =>
      void renewLease(tenant, { name, holder, text }).then(
        (isOurs) => isOurs || started?.stop(),
        () => {}, // the next one tries again
      );
    const renewing = setInterval(renew, RENEW_EVERY_MS);
    let started: BundleProcess | undefined;
    try {
      const job = await jobOf(bundle);
      started = startBundleProcess({
        job,
        agentPath: config.executor.agentPath,
        env: input.env,
        timeoutMs: config.bundles.syncTimeout,
        answerValue: input.compileValues(bundle.tenant_id).answer,
        archive: createArchiveStore(tenant),
        onProgress(shown) {
          text = shown;
          if (Date.now() - shownAt < SHOW_EVERY_MS) return;
          shownAt = Date.now();
          renew();
        },
      });
      onStart(started);
      const result = await started.result;
      await settleSync(tenant, await endOf(bundle, result));
    } catch (error) {
      if (error instanceof CredentialsError) return void (await settleSync(tenant, failure(bundle, error.message)));
      log.warn({ err: error, bundle: name }, 'a bundle was not synced');
      await settleSync(tenant, failure(bundle, 'the control plane could not finish the sync: its log says why'));
    } finally {
      clearInterval(renewing);
    }
  }

  async function jobOf(bundle: LeasedBundle): Promise<BundleJob> {
    const { tenant_id: tenantId, name } = bundle;
    const { allowedPaths } = config.bundles;
    const refused = refusedSource(bundle, allowedPaths) ?? (await refusedLink(bundle, allowedPaths));
    if (refused !== undefined) throw new CredentialsError(refused);
    const tenant = db.tenant(tenantId);
    const { credentials } = await readCredentials(tenant, { tenantId, connId: bundle.conn_id, keyring });
    const current =
      bundle.current_deployment === null ? undefined : await findDeployment(tenant, name, bundle.current_deployment);
    const dags = await dagsOfBundle(tenant, name);
    const { maxFileBytes, maxBytes, maxFiles, maxMemoryBytes } = config.bundles;
    return {
      name,
      kind: bundle.kind,
      url: bundle.url,
      ref: bundle.ref,
      folder: bundle.folder,
      credentials,
      cache: join(bundleCacheFolder(config, input.env), tenantId, name),
      // A person who asks for a sync gets one, also of a commit that was undone.
      seen: isAsked(bundle) ? null : bundle.seen_version,
      current: current ? { version: current.version, root: current.root } : null,
      keep: await newestRoots(tenant, name, KEPT_ROOTS),
      known: Object.fromEntries(dags.map(({ dag_id: id, content_hash: hash }) => [id, hash])),
      runsElsewhere: !hasExecutor(config, 'subprocess'),
      taskUser: taskUserOf(config.executor.taskUser) ?? null,
      limits: { fileBytes: maxFileBytes, totalBytes: maxBytes, files: maxFiles, memoryBytes: maxMemoryBytes },
    };
  }

  async function endOf(bundle: LeasedBundle, result: SyncResult): Promise<SyncEnd> {
    const { name } = bundle;
    const tenant = db.tenant(bundle.tenant_id);
    const done = {
      name,
      holder,
      claimedCheckAt: bundle.next_check_at,
      answered: bundle.asked,
      nextCheckSeconds: pollOf(bundle),
    };
    switch (result.kind) {
      case 'failed':
        return failure(bundle, result.message);
      case 'unchanged':
        // A commit that was refused stays refused until another one comes.
        return { ...done, ...stateBefore(bundle), seenVersion: result.version };
      case 'refused':
        return refusal(bundle, result.version, result.broken);
      case 'compiled': {
        const { commit } = result;
        const outcome = await deployCommit(tenant, {
          ...result,
          bundle,
          holder,
          url: commitUrl(bundle, commit.version),
          policy: policyOf(config),
          isTaskEnvironment: hasExecutor(config, 'subprocess'),
          isAsked: isAsked(bundle),
          actor: { name: isAsked(bundle) ? (bundle.asked_by ?? SYNCER) : SYNCER, clientIp: 'local', requestId: 'bundles' }, // prettier-ignore
        });
        return endOfDeployment(bundle, commit.version, outcome);
      }
    }
  }

  function endOfDeployment(bundle: LeasedBundle, version: string, outcome: DeployOutcome): SyncEnd | Promise<SyncEnd> {
    const { name } = bundle;
    const done = {
      name,
      holder,
      claimedCheckAt: bundle.next_check_at,
      answered: bundle.asked,
      nextCheckSeconds: pollOf(bundle),
      seenVersion: version,
    };
    const short = version.slice(0, SHORT);
    switch (outcome.kind) {
      case 'superseded':
        return {
          ...failure(bundle, 'it was changed during the sync, which begins again'),
          answered: bundle.answered,
          nextCheckSeconds: 0,
        };
      case 'refused':
        return refusal(bundle, version, outcome.broken);
      case 'unchanged':
        return {
          ...done,
          state: 'done',
          text: `${short} is current already`,
          problems: leftOut(version, outcome.left),
        };
      case 'deployed': {
        const { number, changes, left } = outcome;
        log.info({ bundle: name, deployment: number, version }, 'a commit was deployed');
        const changed = Object.keys(changes).length;
        const without = left.length === 0 ? '' : `, without ${left.length} broken file${left.length === 1 ? '' : 's'}`;
        return {
          ...done,
          state: 'done',
          text: `deployment ${number}: ${short}, ${changed} DAG${changed === 1 ? '' : 's'} changed${without}`,
          problems: leftOut(version, left),
        };
      }
    }
  }

  /** Nothing of the commit is current, and the web UI shows why. */
  async function refusal(bundle: LeasedBundle, version: string, broken: readonly BrokenFile[]): Promise<SyncEnd> {
    await replaceImportErrors(db.tenant(bundle.tenant_id), bundle.name, importErrors(broken, version));
    log.warn({ bundle: bundle.name, version, problems: broken.length }, 'a commit was refused');
    const [first] = broken;
    const more = broken.length > 1 ? ` and ${broken.length - 1} more` : '';
    return {
      name: bundle.name,
      holder,
      claimedCheckAt: bundle.next_check_at,
      answered: bundle.asked,
      nextCheckSeconds: pollOf(bundle),
      ...(version !== '' && { seenVersion: version }),
      state: 'refused',
      text: `${version.slice(0, SHORT) || 'it'} is not deployed: ${placeOf(first)}${more}`,
      problems: { version, list: problemsOf(broken) },
    };
  }

  function failure(bundle: LeasedBundle, message: string): SyncEnd {
    log.warn({ bundle: bundle.name, reason: message }, 'a bundle was not synced');
    const pause = Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(bundle.failures, 10), LONGEST_PAUSE_SECONDS);
    return {
      name: bundle.name,
      holder,
      claimedCheckAt: bundle.next_check_at,
      answered: bundle.asked,
      state: 'failed',
      text: message,
      nextCheckSeconds: bundle.poll_seconds === 0 ? undefined : Math.max(pause, bundle.poll_seconds),
    };
  }

  return {
    start() {
      if (!syncsBundles(config)) return;
      timer = setInterval(() => void look(), config.scheduler.loopIntervalMs);
      timer.unref();
      cleaning = setInterval(() => void clean(), CLEAN_EVERY_MS);
      cleaning.unref();
      void look();
    },
    wake: () => void (timer && look()),
    async stop() {
      isStopping = true;
      clearInterval(timer);
      clearInterval(cleaning);
      await cleanup;
      for (const { process } of running.values()) process?.stop();
      await Promise.all(running.keys());
      if (timer) await releaseLeases(db, holder).catch(() => {}); // they run out
    },
  };
}

const SYNCER = 'bundles';
const isAsked = ({ asked, answered }: LeasedBundle): boolean => asked > answered;
const SHORT = 12;

const placeOf = (broken: BrokenFile | undefined): string => {
  if (!broken) return '';
  const { file, line, message } = broken;
  return file === '' ? message : `${file}${line === null ? '' : `:${line}`}: ${message}`;
};

const pollOf = ({ poll_seconds: seconds }: LeasedBundle): number | undefined => (seconds === 0 ? undefined : seconds);

const leftOut = (version: string, left: readonly BrokenFile[]): SyncEnd['problems'] =>
  left.length === 0 ? null : { version, list: problemsOf(left) };

function stateBefore({
  problems,
  problem_version: version,
  seen_version: seen,
}: LeasedBundle): Pick<SyncEnd, 'state' | 'text'> {
  if (problems && version === seen)
    return { state: 'refused', text: `${version?.slice(0, SHORT)} is not deployed, and there is no newer commit` };
  return { state: 'done', text: 'nothing new' };
}

const policyOf = (config: Config) => ({
  podPolicy: hasExecutor(config, 'orchestrator') ? { allowsSecrets: config.executor.podOverrideSecrets } : undefined,
  executors: executorNames(config),
});

/** True in a process that fetches and compiles bundles. */
export const syncsBundles = (config: Config): boolean =>
  config.bundles.executor === 'local' || (config.bundles.executor === 'auto' && hasExecutor(config, 'subprocess'));
