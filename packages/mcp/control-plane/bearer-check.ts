/**
 * Asks the control plane whether it accepts a token, before a request over HTTP is served. A client renews its token
 * only after a 401. If the control plane complains about anything except the token, the request passes, and the call
 * itself reports the problem.
 */
import { createApiClient } from '@svc/client/client.ts';
import { ApiError } from '@svc/client/failure.ts';
import { VERSION } from '../version.ts';
import { controlPlaneErrorOf } from './failures.ts';
import type { Limit } from './limit.ts';

/**
 * Returns null if the token is valid, or if this is unknown. `reason` is short, for a header; `message` says what to
 * do.
 */
export type BearerCheck = (token: string) => Promise<{ reason: string; message: string } | null>;

const REASONS: Record<string, string> = {
  token_expired: 'the token has expired',
  session_ended: 'the session of the token was ended',
  tenant_disabled: 'the tenant is disabled',
};

export function createBearerCheck({ server, limit }: { server: string; limit: Limit }): BearerCheck {
  return async (token) => {
    const api = createApiClient({ server, token, userAgent: `svc-mcp/${VERSION}` });
    try {
      await limit.run(() => api.get('/api/v2/version'));
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { failure } = error;
      if (failure.kind !== 'refused' || failure.status !== 401) return null;
      const { message } = controlPlaneErrorOf({ server, tokenSource: 'request', hasToken: true }, failure);
      return { reason: REASONS[failure.code] ?? 'the token is not valid', message };
    }
  };
}
