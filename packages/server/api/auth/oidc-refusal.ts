/** Records a refused sign-in and turns it into an API error. */
import type { FastifyRequest } from 'fastify';
import type { Origin } from '../../auth/oidc/admit.ts';
import { recordRefusal } from '../../auth/oidc/record-refusal.ts';
import { SsoRefusal } from '../../auth/oidc/refusals.ts';
import type { RefusalKind } from '../../auth/oidc/refusals.ts';
import type { SingleSignOn } from '../../auth/oidc/single-sign-on.ts';
import { ApiError } from '../../http/errors.ts';
import type { ErrorCode } from '../../http/errors.ts';
import type { Services } from '../services.ts';

const CODES = {
  start_again: 'sso_start_again',
  refused: 'sso_refused',
  unavailable: 'sso_unavailable',
} as const satisfies Record<RefusalKind, ErrorCode>;

/** Errors that `signedIn` may answer. */
export const SIGN_IN_REFUSALS = ['disabled', ...Object.values(CODES)] as const;

const RETRY_AFTER_SECONDS = '5';

/** Runs work that needs single sign-on. Every refusal is logged and audited before its answer. */
export async function signedIn<Result>(
  { db, singleSignOn, onRefusedSignIn }: Pick<Services, 'db' | 'singleSignOn' | 'onRefusedSignIn'>,
  request: FastifyRequest,
  work: (singleSignOn: SingleSignOn, origin: Origin) => Promise<Result>,
): Promise<Result> {
  if (!singleSignOn) throw new ApiError('disabled', 'single sign-on is off here: auth.provider is jwt');
  const origin = { clientIp: request.clientIp, requestId: request.id };
  try {
    return await work(singleSignOn, origin);
  } catch (error) {
    if (!(error instanceof SsoRefusal)) throw error;
    const { reason, person } = error;
    request.log.warn({ code: 'SVC6007', reason, email: person.email, cause: causeOf(error) }, 'single sign-on refused');
    onRefusedSignIn(reason);
    await recordRefusal(db, { refusal: error, origin });
    const code = CODES[error.kind];
    throw new ApiError(code, error.message, error.kind === 'unavailable' ? { 'retry-after': RETRY_AFTER_SECONDS } : {});
  }
}

/** Returns only texts. Libraries may attach a whole answer of the provider, tokens included, to their errors. */
function causeOf({ cause }: Error): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code, error } = cause as { code?: unknown; error?: unknown };
  const below = cause.cause instanceof Error ? `: ${cause.cause.message}` : '';
  return [cause.message + below, code, error].filter((part) => typeof part === 'string').join(' ');
}
