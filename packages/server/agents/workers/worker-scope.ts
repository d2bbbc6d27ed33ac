/** What a worker may request in its own name, and what it may report about itself. */
import { MAX_HEARTBEAT_TOKENS } from '@svc/proto/limits.ts';
import type { VersionRef } from '../../engine/shared/dag-graphs.ts';
import type { AgentCredentials, VerifiedAttempt, VerifiedWorker } from '../credentials.ts';
import { RpcError } from '../rpc-errors.ts';

/** Returns the only DAG version that a warm worker serves. */
export function versionOfWorker({ scope }: VerifiedWorker): VersionRef {
  const { tenantId, dagId, versionNumber } = scope ?? {};
  if (tenantId !== undefined && dagId !== undefined && versionNumber !== undefined) {
    return { tenantId, dagId, versionNumber };
  }
  throw new RpcError('unauthenticated', 'this worker serves no DAG version: ask with the credential of an attempt');
}

/** Returns the attempts that it runs, without those that it cannot have been given. */
export async function runningAttempts(
  credentials: Pick<AgentCredentials, 'verifyAttempt'>,
  { scope }: VerifiedWorker,
  tokens: readonly string[],
): Promise<VerifiedAttempt[]> {
  const named = tokens.slice(0, MAX_HEARTBEAT_TOKENS);
  const found = await Promise.all(named.map((token) => credentials.verifyAttempt(token)));
  return found.filter(
    (identity): identity is VerifiedAttempt =>
      typeof identity !== 'string' &&
      (scope === undefined || identity.tenantId === scope.tenantId) &&
      (scope?.dagId === undefined || identity.dagId === scope.dagId) &&
      (scope?.versionNumber === undefined || identity.versionNumber === scope.versionNumber),
  );
}
