/** What pools of warm workers are made from: the rest of the executor and of the control plane, as they need it. */
import type { V1Pod } from '@kubernetes/client-node';
import type { AgentService } from '../../../agents/agent-service.ts';
import type { NoteAttempt } from '../../../agents/attempt-notes.ts';
import type { AgentLog } from '../../../agents/collaborators.ts';
import type { AgentCredentials } from '../../../agents/credentials.ts';
import type { Attempts, NextInstance } from '../../../engine/shared/attempts.ts';
import type { OrderedIdentity } from '../../worker-attempts.ts';
import type { PodRequests } from '../pod-requests.ts';
import type { SeenPod } from '../pod-watch.ts';
import type { WarmSettings } from './pool.ts';
import type { ShapedTask, TaskShapes } from './task-shapes.ts';
import type { WorkerRecords } from './worker-records.ts';
import type { WarmIdentity } from './worker-identity.ts';

export type WarmPoolsOptions = {
  requests: Pick<PodRequests, 'create' | 'remove'>;
  service: Pick<AgentService, 'observe' | 'startEarly' | 'workers'>;
  credentials: Pick<AgentCredentials, 'issueAttempt'>;
  attempts: Pick<Attempts, 'lost' | 'triggererLost' | 'heartbeat' | 'noteWait'>;
  note: NoteAttempt;
  /** Where there are several executors: is the task for this one? */
  mayRun?: ((next: NextInstance) => boolean) | undefined;
  shapes: TaskShapes;
  buildPod: (worker: WarmIdentity, task: ShapedTask['task']) => Promise<V1Pod | undefined>;
  /** What has started in a pod and is not over, whoever gave it to it. */
  findAttemptsOn: (podName: string) => Promise<readonly Omit<OrderedIdentity, 'kind'>[]>;
  podOf: (name: string) => SeenPod | undefined;
  hasSynced: () => boolean;
  settings: WarmSettings;
  records: WorkerRecords;
  startTimeoutMs: number;
  processId: string;
  /** Of svc, here. */
  version: string;
  /** A slot came free. */
  onRoom: () => void;
  /** The attempt must have a pod of its own. */
  onCold: (identity: OrderedIdentity) => void;
  count: (start: 'warm' | 'cold') => void;
  log: AgentLog;
  /** Between starts that failed; shorter in tests. */
  pauses?: { firstMs: number; longestMs: number };
  /** After the end of a pod, before what nobody has reported of it is lost; shorter in tests. */
  settleMs?: number;
};
