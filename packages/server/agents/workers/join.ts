/**
 * Joins a worker on another host: it exchanges a token that people have created for the credential of a new worker. The
 * credential contains what the worker may do (its tenant, its queues), so it may open its stream to any process of the
 * control plane.
 */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { MAX_TOKEN_LENGTH } from '@svc/proto/limits.ts';
import { workerTokenHash } from '../../auth/service-tokens.ts';
import type { Database } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { useWorkerToken } from '../../db/workers/worker-tokens.ts';
import type { JoinToken } from '../../db/workers/worker-tokens.ts';
import type { AgentLog } from '../collaborators.ts';
import type { AgentCredentials, WorkerScope } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';

export type JoinRequest = { hostname: string; version: string; name: string; queues: string[]; slots: number };
export type JoinReply = { token: string; worker_id: string; queues: string[] };

/** Throws an `RpcError` for an invalid token. */
export type ReviewJoin = (token: string) => Promise<JoinToken>;

export type JoinSide = {
  review: ReviewJoin;
  /** `peer`: the address from which it calls. */
  join(token: JoinToken, request: JoinRequest, peer: string): Promise<JoinReply>;
};

const nobody = async (): Promise<never> => {
  throw new RpcError(
    'unauthenticated',
    'this control plane takes no remote workers: its executor.type does not name remote',
  );
};
export const NO_JOINING: JoinSide = { review: nobody, join: nobody };

const MAX_NAME = 200;
const MAX_SLOTS = 1_000;

export function createJoinSide(input: {
  db: Database;
  credentials: Pick<AgentCredentials, 'issueWorker'>;
  /** True when the listener uses TLS. */
  hasTls: boolean;
  log: AgentLog;
}): JoinSide {
  const { db, credentials, hasTls, log } = input;
  return {
    async review(text) {
      const hash = workerTokenHash(text);
      const token = hash && (await useWorkerToken(db.shared, hash));
      // A revoked token and an unknown one have the same message, so that guessing reveals nothing.
      if (!token)
        throw new RpcError(
          'unauthenticated',
          'the token is unknown, or was revoked: make one with "svc workers create-token"',
        );
      if (token.hasExpired)
        throw new RpcError('unauthenticated', 'the token has expired: make one with "svc workers create-token"');
      if (token.isTenantDisabled) throw new RpcError('denied', 'the tenant of the token is disabled');
      return token;
    },

    async join(token, request, peer) {
      if (!hasTls && !isLoopback(peer)) {
        throw new RpcError(
          'denied',
          'workers of other hosts join over TLS only: set server.grpc_tls.cert and server.grpc_tls.key, and start the worker with --ca-file',
        );
      }
      const scope = scopeOf(token, request);
      const workerId = randomUUID();
      await recordAudit(
        db.tenant(token.tenantId),
        { name: `worker ${scope.name}`, clientIp: '', requestId: workerId },
        {
          event: 'worker_joined',
          objectKind: 'worker',
          objectId: scope.name,
          detail: {
            id: workerId,
            hostname: request.hostname.slice(0, MAX_NAME),
            queues: scope.queues,
            token: token.id,
          },
        },
      );
      log.info({ worker: workerId, name: scope.name, queues: scope.queues, peer }, 'a worker has joined');
      const credential = await credentials.issueWorker(workerId, scope);
      // A credential that is too long for every call would be useless.
      if (credential.length > MAX_TOKEN_LENGTH)
        throw new RpcError('invalid', 'the names of the queues are too long together');
      return { token: credential, worker_id: workerId, queues: scope.queues };
    },
  };
}

type RemoteScope = WorkerScope & { kind: 'remote'; name: string; queues: string[]; slots: number; tokenId: string };

function scopeOf(token: JoinToken, request: JoinRequest): RemoteScope {
  const queues = request.queues.length === 0 ? token.queues : [...new Set(request.queues)];
  const foreign = queues.filter((queue) => !token.queues.includes(queue));
  if (foreign.length > 0) {
    throw new RpcError(
      'denied',
      `the token is for the queues ${token.queues.join(', ')}, not for ${foreign.join(', ').slice(0, MAX_NAME)}`,
    );
  }
  const { slots } = request;
  if (slots < 1 || slots > MAX_SLOTS)
    throw new RpcError('invalid', `slots is ${slots}: a number from 1 to ${MAX_SLOTS}`);
  const name = (request.name || request.hostname || 'worker').slice(0, MAX_NAME);
  return { kind: 'remote', tenantId: token.tenantId, pool: queues.join(','), name, queues, slots, tokenId: token.id };
}

/** True for `127.0.0.1:1234`, `[::1]:1234`, or a socket of this machine. */
function isLoopback(peer: string): boolean {
  const host = peer
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:/, '');
  if (isIP(host) === 0) return peer.startsWith('unix:');
  return host === '::1' || host.startsWith('127.');
}
