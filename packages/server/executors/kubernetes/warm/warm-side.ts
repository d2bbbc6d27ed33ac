/**
 * The part of the executor with warm workers: it decides which attempts go to them. Other work has pods of its own:
 * callbacks, triggerers, and tasks that stage files or need a different pod.
 */
import type { NoteAttempt } from '../../../agents/attempt-notes.ts';
import type { AgentService } from '../../../agents/agent-service.ts';
import type { AgentLog } from '../../../agents/collaborators.ts';
import type { AgentCredentials } from '../../../agents/credentials.ts';
import type { Attempts, NextInstance } from '../../../engine/shared/attempts.ts';
import type { VersionRef } from '../../../engine/shared/dag-graphs.ts';
import type { OrderedIdentity } from '../../worker-attempts.ts';
import type { ReadPodFacts, VersionPodFacts } from '../pod-facts.ts';
import type { PodRequests } from '../pod-requests.ts';
import type { PodSettings } from '../pod-spec.ts';
import { AUDIENCE, TOKEN_SECONDS } from '../pod-tokens.ts';
import type { SeenPod } from '../pod-watch.ts';
import { createPassOn } from './pass-on.ts';
import type { Neighbours } from './pass-on.ts';
import type { WarmSettings } from './pool.ts';
import { createReadyVersions } from './ready-versions.ts';
import type { UsedVersion } from './ready-versions.ts';
import { createTaskShapes } from './task-shapes.ts';
import type { WarmPoolsOptions } from './warm-options.ts';
import { createWarmPools } from './warm-pools.ts';
import { warmWorkerOf } from './worker-identity.ts';
import { createWorkerRecords } from './worker-records.ts';
import type { WorkerRows } from './worker-records.ts';
import { buildWorkerPod } from './worker-pod.ts';

/** What an installation with pools adds to the executor's options. */
export type WarmOptions = {
  settings: WarmSettings;
  findUsed: (others: readonly VersionRef[]) => Promise<readonly UsedVersion[]>;
  /** The version of svc of this process. */
  version: string;
  count: (start: 'warm' | 'cold') => void;
  service: Pick<AgentService, 'observe' | 'startEarly' | 'workers'>;
  findAttemptsOn: WarmPoolsOptions['findAttemptsOn'];
  rows: WorkerRows;
  neighbours: Neighbours;
  /** Shorter in tests. */
  pauses?: { firstMs: number; longestMs: number };
  settleMs?: number;
};

type WarmSideInput = {
  warm: WarmOptions;
  requests: PodRequests;
  credentials: Pick<AgentCredentials, 'issueAttempt'>;
  attempts: Pick<Attempts, 'lost' | 'triggererLost' | 'heartbeat' | 'noteWait'>;
  note: NoteAttempt;
  /** Given when there are several executors: true for a task of this one. */
  mayRun?: ((next: NextInstance) => boolean) | undefined;
  readFacts: ReadPodFacts;
  settings: PodSettings;
  baseImage: (pythonLine: string) => string;
  controlPlane: () => string;
  processId: string;
  startTimeoutMs: number;
  podOf: (name: string) => SeenPod | undefined;
  hasSynced: () => boolean;
  onRoom: () => void;
  /** Called when the attempt gets a pod of its own. */
  onCold: (identity: OrderedIdentity) => void;
  log: AgentLog;
};

/** How often wait reasons are reported and workers send heartbeats. */
const TELL_MS = 2_000;
/** How often workers of other processes are looked for while attempts wait. */
const PASS_MS = 500;

export function createWarmSide(input: WarmSideInput) {
  const { warm, readFacts, log } = input;
  /** Attempts whose version is being read. */
  const arriving = new Map<string, OrderedIdentity>();
  const podInput = (facts: VersionPodFacts) => ({
    owner: input.processId,
    image: facts.image ?? input.baseImage(facts.pythonLine),
    isOwnImage: facts.image !== null,
    settings: input.settings,
    controlPlane: input.controlPlane(),
    credential: { kind: 'exchange' as const, audience: AUDIENCE, expirationSeconds: TOKEN_SECONDS },
  });
  const shapes = createTaskShapes({ readFacts, podInput });
  const pools = createWarmPools({
    ...input,
    ...warm,
    shapes,
    records: createWorkerRecords({ rows: warm.rows, processId: input.processId, log }),
    async buildPod(worker, task) {
      const facts = await readFacts(worker);
      return facts && buildWorkerPod(worker, { ...podInput(facts), task });
    },
  });
  const keepReady = createReadyVersions({ findUsed: warm.findUsed, shapes, pools, minIdle: warm.settings.minIdle });
  const telling = setInterval(() => {
    pools.tellWaits();
    void pools.touch();
  }, TELL_MS);
  telling.unref();

  const passOn = createPassOn({
    neighbours: warm.neighbours,
    processId: input.processId,
    onGiven: (identity) => void take(identity),
    log,
  });
  let isPassing = false;
  const passing = setInterval(() => void passWaiting(), PASS_MS);
  passing.unref();

  async function passWaiting(): Promise<void> {
    if (isPassing) return;
    isPassing = true;
    for (const pool of pools.pools()) if (pools.hasElsewhere(pool.key)) await passOn.pass(pool);
    isPassing = false;
  }

  async function take(identity: OrderedIdentity): Promise<void> {
    arriving.set(identity.attemptId, identity);
    // The code that builds a pod meets and reports the same error of the version.
    const version = shapes.peek(identity) ?? (await shapes.get(identity).catch(() => undefined));
    if (!arriving.delete(identity.attemptId)) return; // it was cancelled
    const shaped = version?.tasks.get(identity.taskId);
    if (shaped) return pools.offer(identity, shaped);
    warm.count('cold');
    input.onCold(identity);
  }

  return {
    ...pools,
    take: (identity: OrderedIdentity): void => void take(identity),
    holds: () => [...arriving.values(), ...pools.holds()],
    has: (attemptId: string): boolean => arriving.has(attemptId) || pools.has(attemptId),
    load: (): number => arriving.size + pools.load(),
    cancel(attemptIds: readonly string[]): void {
      for (const id of attemptIds) arriving.delete(id);
      pools.cancel(attemptIds);
    },
    /** Returns false when the pod does not belong to a worker. */
    changed(pod: SeenPod): boolean {
      const identity = warmWorkerOf(pod.annotations);
      if (identity) pools.changed(pod, identity);
      return identity !== undefined;
    },
    gone(pod: SeenPod): boolean {
      const identity = warmWorkerOf(pod.annotations);
      if (identity) pools.gone(pod, identity);
      return identity !== undefined;
    },
    async lookAfter(): Promise<void> {
      pools.lookAfter();
      await keepReady().catch((error: unknown) =>
        log.warn({ code: 'SVC3022', err: error }, 'could not keep warm pools at their size: tried again'),
      );
    },
    async close(): Promise<void> {
      clearInterval(telling);
      clearInterval(passing);
      pools.close();
      await passOn.close();
    },
  };
}
