/** Requests to the cluster about one pod, with an answer for every outcome. */
import type { CoreV1EventList, V1Pod } from '@kubernetes/client-node';
import { ApiError, hasStatus } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { identityOf } from './pod-names.ts';
import type { PodFailure, PodWait } from './pod-verdict.ts';

export type CreateAnswer = { kind: 'created' } | NotCreated;

export type NotCreated =
  /** Nothing is wrong with the pod: try the same again after a while. */
  | { kind: 'later'; wait: PodWait; afterMs: number | undefined }
  /** The request would be refused again. `mayPass`: unless the cluster has just started (passing-refusals.ts). */
  | { kind: 'refused'; failure: PodFailure; mayPass?: boolean };

export type PodRequests = {
  create(pod: V1Pod, attemptId: string): Promise<CreateAnswer>;
  /** Returns true when it is gone, or being removed. */
  remove(name: string, options?: { graceSeconds?: number }): Promise<boolean>;
  /** Returns the last complaint of the cluster about a pod that does not start. Empty if there is none. */
  complaint(name: string): Promise<string>;
};

/** Matches `pods "x" is forbidden: exceeded quota: …`. */
const QUOTA = /exceeded quota/i;

export function createPodRequests(api: ApiClient, namespace: string): PodRequests {
  const pods = `/api/v1/namespaces/${namespace}/pods`;

  /** The name derives from the attempt, so an earlier call has created the pod with that name. */
  async function isOwn(name: string, attemptId: string): Promise<boolean> {
    const found = await api.get<V1Pod>(`${pods}/${name}`);
    return identityOf(found.metadata?.annotations)?.attemptId === attemptId;
  }

  return {
    async create(pod, attemptId) {
      try {
        await api.post<V1Pod>(pods, pod);
        return { kind: 'created' };
      } catch (error) {
        if (!(error instanceof ApiError)) return unreachable(error);
        if (error.status !== 409) return answerOf(error, namespace);
        const isMine = await isOwn(pod.metadata?.name ?? '', attemptId).catch(() => false);
        return isMine ? { kind: 'created' } : answerOf(error, namespace);
      }
    },

    async remove(name, { graceSeconds } = {}) {
      try {
        const options = graceSeconds === undefined ? undefined : { gracePeriodSeconds: graceSeconds };
        await api.delete(`${pods}/${name}`, options);
        return true;
      } catch (error) {
        return hasStatus(error, 404);
      }
    },

    async complaint(name) {
      const query = { fieldSelector: `involvedObject.name=${name},type=Warning`, limit: 20 };
      const found = await api
        .get<CoreV1EventList>(`/api/v1/namespaces/${namespace}/events`, query)
        .catch(() => undefined);
      const newest = found?.items.toSorted((a, b) => timeOf(a) - timeOf(b)).at(-1);
      return newest ? `${newest.reason}: ${newest.message}` : '';
    },
  };
}

const timeOf = (event: CoreV1EventList['items'][number]): number =>
  Date.parse(String(event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? 0)) || 0;

export const unreachable = (error: unknown): NotCreated => ({
  kind: 'later',
  wait: { reason: 'cluster_unreachable', detail: (error as Error).message },
  afterMs: undefined,
});

export function answerOf(error: ApiError, namespace: string): NotCreated {
  const { status, message, retryAfterMs: afterMs } = error;
  if (status === 429 || QUOTA.test(message)) {
    return { kind: 'later', wait: { reason: 'pod_refused', detail: message }, afterMs };
  }
  if (status >= 500) return { kind: 'later', wait: { reason: 'cluster_unreachable', detail: message }, afterMs };
  // A conflict that is not about names: two writers collided, as happens with quotas.
  if (status === 409 && error.reason !== 'AlreadyExists') {
    return { kind: 'later', wait: { reason: 'pod_refused', detail: message }, afterMs };
  }
  if (status === 401 || status === 403 || status === 404) {
    const hint = `executor.task_namespace is ${namespace}: it must exist, and be the one in which the chart grants the executor its role`;
    return { kind: 'refused', failure: { cause: 'pod_refused', text: `${message} (${hint})` }, mayPass: true };
  }
  return { kind: 'refused', failure: { cause: 'pod_refused', text: message } };
}
