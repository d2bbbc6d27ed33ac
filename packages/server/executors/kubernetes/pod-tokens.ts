/**
 * Finds the pod that presents a token. It first checks what it can see without a request. Then the API server confirms
 * that the token is genuine and for this service (TokenReview), and that this installation created the pod.
 */
import type { V1Pod, V1TokenReview } from '@kubernetes/client-node';
import type { ReviewPod, ReviewedPod } from '../../agents/pod-exchange.ts';
import { RpcError } from '../../agents/rpc-errors.ts';
import { hasStatus } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { LABEL, identityOf, podName } from './pod-names.ts';
import { scopeOf, warmWorkerOf, workerPodName } from './warm/worker-identity.ts';

export const AUDIENCE = 'svc-agent';
/** The shortest lifetime that Kubernetes allows. */
export const TOKEN_SECONDS = 600;

/** Simultaneous reviews. A flood of tokens must not become a flood at the API server. */
const AT_ONCE = 16;
const MAX_TOKEN = 8_192;
const NEW_POD_MS = 12 * 60 * 60_000;

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';

const denied = (reason: string): RpcError => new RpcError('unauthenticated', reason);

export function createPodReview(input: { api: ApiClient; namespace: string; installation: string }): ReviewPod {
  const { api, namespace, installation } = input;
  let running = 0;

  async function review(token: string): Promise<ReviewedPod> {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [AUDIENCE] },
    };
    const { status } = await api.post<V1TokenReview>('/apis/authentication.k8s.io/v1/tokenreviews', body);
    const { authenticated, audiences = [], user, error } = status ?? {};
    if (!authenticated || !audiences.includes(AUDIENCE))
      throw denied(`the cluster refuses the token: ${error ?? 'not genuine'}`);
    if (!user?.username?.startsWith(`system:serviceaccount:${namespace}:`)) {
      throw denied('the token belongs to another namespace than that of tasks');
    }
    const name = user.extra?.[POD_NAME]?.[0] ?? '';
    const uid = user.extra?.[POD_UID]?.[0] ?? '';
    if (name === '' || uid === '') throw denied('the token is not bound to a pod');
    return { name, uid, of: await madeFor(name, uid) };
  }

  /** Asks the cluster, because another process may have created the pod a moment ago. */
  async function madeFor(name: string, uid: string): Promise<ReviewedPod['of']> {
    const { metadata } = await api.get<V1Pod>(`/api/v1/namespaces/${namespace}/pods/${name}`);
    const identity = identityOf(metadata?.annotations);
    const isOurs = metadata?.labels?.[LABEL.installation] === installation && metadata.uid === uid;
    const worker = warmWorkerOf(metadata?.annotations);
    if (worker && isOurs && workerPodName(worker.workerId) === name) {
      // Its token is renewed for as long as the pod lives, but exchanges are remembered for only one day.
      const age = Date.now() - Date.parse(String(metadata?.creationTimestamp));
      if (!(age < NEW_POD_MS)) throw denied('a worker exchanges its token when its pod is new');
      return { kind: 'worker', workerId: worker.workerId, scope: scopeOf(worker) };
    }
    if (!identity || !isOurs || podName(identity) !== name) throw denied('no attempt was given to this pod');
    const { dispatch: _dispatch, ...attempt } = identity;
    return { kind: 'attempt', identity: attempt };
  }

  return async (token) => {
    if (!couldBeOne(token, namespace)) throw denied('this is no token of a pod of tasks');
    if (running >= AT_ONCE) throw new RpcError('unavailable', 'too many tokens are being reviewed: try again');
    running += 1;
    try {
      return await review(token);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      if (hasStatus(error, 404)) throw denied('the pod of the token is gone');
      throw new RpcError('unavailable', `the cluster cannot review the token: ${(error as Error).message}`);
    } finally {
      running -= 1;
    }
  };
}

/** Reads the token without verifying it, so that a token for another service causes no request to the cluster. */
function couldBeOne(token: string, namespace: string): boolean {
  if (token.length > MAX_TOKEN) return false;
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      aud?: string[];
      exp?: number;
      'kubernetes.io'?: { namespace?: string; pod?: { name?: string } };
    };
    const bound = claims['kubernetes.io'];
    return claims.aud?.includes(AUDIENCE) === true && bound?.namespace === namespace && bound.pod?.name !== undefined;
  } catch {
    return false;
  }
}
