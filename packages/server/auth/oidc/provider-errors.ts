/** Maps an error of the provider to one of our reasons. */
import type * as OpenIdClient from 'openid-client';
import { SsoRefusal } from './refusals.ts';
import type { RefusalReason } from './refusals.ts';

/** Errors of RFC 6749 and OpenID Connect Core, by the party that can solve them. */
const OF_THE_PERSON = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);
const OF_THE_PROVIDER = new Set(['server_error', 'temporarily_unavailable']);

export function refusalOf(library: typeof OpenIdClient, error: unknown, otherwise: RefusalReason): SsoRefusal {
  if (error instanceof SsoRefusal) return error;
  const because = (reason: RefusalReason) => new SsoRefusal(reason, { cause: error });
  if (error instanceof library.AuthorizationResponseError) {
    if (OF_THE_PERSON.has(error.error)) return because('provider_denied');
    return because(OF_THE_PROVIDER.has(error.error) ? 'provider_unreachable' : 'registration_refused');
  }
  if (error instanceof library.ResponseBodyError) {
    if (error.status >= 500 || OF_THE_PROVIDER.has(error.error)) return because('provider_unreachable');
    // The code is invalid: used, expired, or issued to another client.
    return because(error.error === 'invalid_grant' ? 'answer_invalid' : 'registration_refused');
  }
  if (error instanceof library.WWWAuthenticateChallengeError) return because('registration_refused');
  if (isUnreachable(library, error)) return because('provider_unreachable');
  return because(otherwise);
}

function isUnreachable(library: typeof OpenIdClient, error: unknown): boolean {
  if (error instanceof TypeError) return error.message === 'fetch failed';
  if (!(error instanceof library.ClientError)) return false;
  if (error.code === 'OAUTH_TIMEOUT' || error.code === 'OAUTH_ABORT') return true;
  return error.cause instanceof Response && error.cause.status >= 500;
}
