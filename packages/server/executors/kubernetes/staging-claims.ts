/**
 * A volume claim for each run that stages files. It is created before the first pod, removed when the run no longer
 * needs it (staging-sweep.ts), and created again if the run is cleared after that.
 *
 * Before each pod that uses a claim, a write updates the claim (`svc.dev/staging-used-at`). A process that has decided
 * earlier to remove it is then refused, because its request names the resource version that it saw.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { nowIso } from '@svc/spec/clock.ts';
import type { AgentLog } from '../../agents/collaborators.ts';
import type { RunKey } from '../../db/dag-runs/run-ends.ts';
import { createStagingSweep } from '../staging-sweep.ts';
import type { FindRunEnds, StagingSweep } from '../staging-sweep.ts';
import { ApiError, hasStatus } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import type { StagingFacts } from './pod-facts.ts';
import { LABEL, labelValue } from './pod-names.ts';
import { answerOf, unreachable } from './pod-requests.ts';
import type { NotCreated } from './pod-requests.ts';

export type StagingSettings = {
  /** `executor.defaults.staging.*`. Size and class apply when a DAG sets none; empty: no default. */
  accessMode: string;
  size: string;
  storageClass: string;
  /** `executor.staging_retention`. */
  retentionMs: number;
  /** Shorter in tests. */
  sweepEveryMs?: number;
};

/** `runId` as users know it. */
export type StagingRun = RunKey & { dagId: string; runId: string };

export type ClaimAnswer = { kind: 'ready'; name: string } | NotCreated;

export type StagingClaims = StagingSweep & {
  /** Called before each pod of the run. */
  ensure(run: StagingRun, staging: StagingFacts): Promise<ClaimAnswer>;
};

const USED_AT = 'svc.dev/staging-used-at';
const SWEEP_EVERY_MS = 30_000;
const DELETION_MS = 1_000;
const PAGE = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Several control planes may share a namespace. */
const prefixOf = (installation: string): string => `svc-staging-${installation.slice(0, 8)}-`;

export const claimName = (installation: string, run: number): string => `${prefixOf(installation)}${run}`;

/** Returns undefined when neither the DAG nor the operator has set a size, which the cluster requires. */
export function buildClaim(input: {
  run: StagingRun;
  staging: StagingFacts;
  settings: StagingSettings;
  installation: string;
  namespace: string;
}): V1PersistentVolumeClaim | undefined {
  const { run, staging, settings, installation, namespace } = input;
  const storage = staging.size || settings.size;
  if (!storage) return undefined;
  const storageClassName = staging.storageClass || settings.storageClass;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(installation, run.run),
      namespace,
      labels: {
        [LABEL.managedBy]: 'svc',
        [LABEL.installation]: installation,
        [LABEL.tenant]: run.tenantId,
        [LABEL.dag]: labelValue(run.dagId),
        [LABEL.run]: labelValue(run.runId),
      },
      annotations: { [LABEL.dag]: run.dagId, [LABEL.run]: run.runId, [USED_AT]: nowIso() },
    },
    spec: {
      accessModes: [settings.accessMode],
      resources: { requests: { storage } },
      // Without a class the cluster takes its default. An empty text would mean no class.
      ...(storageClassName && { storageClassName }),
    },
  };
}

/** The list as it is sent. The client library has another name for `continue`. */
type ClaimList = { items: V1PersistentVolumeClaim[]; metadata?: { continue?: string } };

type SeenClaim = RunKey & { name: string; uid: string; resourceVersion: string };

/** Returns undefined when the claim is not ours, whatever its labels say, or is being deleted. */
export function seenClaim(claim: V1PersistentVolumeClaim, installation: string): SeenClaim | undefined {
  const { name = '', uid = '', resourceVersion = '', labels = {}, deletionTimestamp } = claim.metadata ?? {};
  const prefix = prefixOf(installation);
  const run = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  const tenantId = labels[LABEL.tenant] ?? '';
  if (!/^\d{1,15}$/.test(run) || !UUID.test(tenantId) || deletionTimestamp) return undefined;
  return { tenantId, run: Number(run), name, uid, resourceVersion };
}

export function createStagingClaims(input: {
  api: Pick<ApiClient, 'get' | 'post' | 'patch' | 'delete'>;
  namespace: string;
  installation: string;
  settings: StagingSettings;
  findRunEnds: FindRunEnds;
  log: AgentLog;
}): StagingClaims {
  const { api, namespace, installation, settings, findRunEnds, log } = input;
  const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;

  /** Returns undefined when it does not exist. */
  async function use(name: string): Promise<ClaimAnswer | undefined> {
    try {
      const touched = { metadata: { annotations: { [USED_AT]: nowIso() } } };
      const { metadata } = await api.patch<V1PersistentVolumeClaim>(`${claims}/${name}`, touched);
      if (!metadata?.deletionTimestamp) return { kind: 'ready', name };
      const detail = `the claim ${name} is being removed, and then made anew`;
      return { kind: 'later', wait: { reason: 'volume_pending', detail }, afterMs: DELETION_MS };
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      return refusal(error, namespace);
    }
  }

  async function make(claim: V1PersistentVolumeClaim, name: string): Promise<ClaimAnswer> {
    try {
      await api.post(claims, claim);
      return { kind: 'ready', name };
    } catch (error) {
      if (!hasStatus(error, 409)) return refusal(error, namespace);
      // Another pod of the run has created it.
      return (await use(name)) ?? refusal(error, namespace);
    }
  }

  async function list(): Promise<SeenClaim[]> {
    const found: SeenClaim[] = [];
    const labelSelector = `${LABEL.managedBy}=svc,${LABEL.installation}=${installation}`;
    let next = '';
    do {
      const query = { labelSelector, limit: PAGE, ...(next !== '' && { continue: next }) };
      const page = await api.get<ClaimList>(claims, query);
      found.push(...page.items.map((claim) => seenClaim(claim, installation)).filter((claim) => claim !== undefined));
      next = page.metadata?.continue ?? '';
    } while (next !== '');
    return found;
  }

  async function remove({ name, uid, resourceVersion }: SeenClaim): Promise<boolean> {
    try {
      await api.delete(`${claims}/${name}`, { preconditions: { uid, resourceVersion } });
      return true;
    } catch (error) {
      // Another scheduler has removed it, or it is used again, or was just bound. The next sweep checks it again.
      if (hasStatus(error, 404, 409)) return false;
      throw error;
    }
  }

  const { retentionMs, sweepEveryMs: everyMs = SWEEP_EVERY_MS } = settings;
  return {
    async ensure(run, staging) {
      const claim = buildClaim({ run, staging, settings, installation, namespace });
      if (!claim) return { kind: 'refused', failure: { cause: 'dispatch_failed', text: NO_SIZE } };
      const name = claimName(installation, run.run);
      return (await use(name)) ?? make(claim, name);
    },
    ...createStagingSweep({ list, remove, findRunEnds, retentionMs, everyMs, log }),
  };
}

const NO_SIZE =
  'the DAG stages files and does not say how much: set staging.size in its svc.yaml, or executor.defaults.staging.size for all DAGs';

/** Handles a refusal like that of a pod. A temporary one is a wait for the volume. */
function refusal(error: unknown, namespace: string): ClaimAnswer {
  const answer = error instanceof ApiError ? answerOf(error, namespace) : unreachable(error);
  if (answer.kind === 'later' && answer.wait.reason === 'pod_refused') {
    return { ...answer, wait: { ...answer.wait, reason: 'volume_pending' } };
  }
  return answer;
}
