/** What pools of warm workers need of the rest of the executor and of the control plane. */
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
  /** Given when there are several executors: true for a task of this one. */
  mayRun?: ((next: NextInstance) => boolean) | undefined;
  shapes: TaskShapes;
  buildPod: (worker: WarmIdentity, task: ShapedTask['task']) => Promise<V1Pod | undefined>;
  /** Returns the attempts that have started in a pod and are not over, whichever process assigned them. */
  findAttemptsOn: (podName: string) => Promise<readonly Omit<OrderedIdentity, 'kind'>[]>;
  podOf: (name: string) => SeenPod | undefined;
  hasSynced: () => boolean;
  settings: WarmSettings;
  records: WorkerRecords;
  startTimeoutMs: number;
  processId: string;
  /** The version of svc of this process. */
  version: string;
  /** Called when a slot became free. */
  onRoom: () => void;
  /** Called when the attempt must have a pod of its own. */
  onCold: (identity: OrderedIdentity) => void;
  count: (start: 'warm' | 'cold') => void;
  log: AgentLog;
  /** The pauses between starts that failed. Shorter in tests. */
  pauses?: { firstMs: number; longestMs: number };
  /** How long after the end of a pod its unreported attempts are lost. Shorter in tests. */
  settleMs?: number;
};
