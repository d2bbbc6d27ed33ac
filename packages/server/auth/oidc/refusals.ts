/**
 * The reasons why a single sign-on is refused. The audit log and the metrics contain the reason. The message tells the
 * person at the browser what to do next. Neither contains a token, a code or a secret.
 */
export type RefusalKind =
  /** The sign-in has expired or is unknown. Starting again helps. */
  | 'start_again'
  /** All facts are known, and the answer is no. */
  | 'refused'
  /** The provider, or our registration there, causes the problem. Trying later helps, or an operator must act. */
  | 'unavailable';

const REFUSALS = {
  sign_in_unknown: {
    kind: 'start_again',
    words:
      'this sign-in was not started in this browser, or more than ten minutes ago, or at another address of this server: start again',
  },
  sign_in_replayed: { kind: 'start_again', words: 'this sign-in has been used already: start again' },
  provider_denied: { kind: 'refused', words: 'the identity provider did not let you in' },
  answer_invalid: {
    kind: 'refused',
    words:
      'the answer of the identity provider could not be verified, so nobody was signed in: try again, and tell an administrator if it stays so',
  },
  tenant_claim_missing: {
    kind: 'refused',
    words: 'your account at the identity provider does not say which organisation it belongs to: ask an administrator',
  },
  tenant_not_mapped: {
    kind: 'refused',
    words: 'your organisation has no tenant here: ask an administrator to add it to auth.oidc.tenant_claims',
  },
  tenant_missing: {
    kind: 'refused',
    words: 'the tenant of your organisation does not exist here: ask an administrator to create it',
  },
  tenant_disabled: {
    kind: 'refused',
    words: 'the tenant of your organisation has been disabled: ask an administrator of the platform',
  },
  email_missing: {
    kind: 'refused',
    words: 'the identity provider did not say your e-mail address: ask an administrator to release the email scope',
  },
  email_unverified: {
    kind: 'refused',
    words:
      'the identity provider does not vouch for your e-mail address: verify it there first, or ask an administrator',
  },
  email_domain: { kind: 'refused', words: 'e-mail addresses of your domain may not sign in here' },
  groups_left_out: {
    kind: 'refused',
    words:
      'you are in so many groups that the identity provider left them out: ask an administrator to send only those that are assigned to this application',
  },
  no_role: {
    kind: 'refused',
    words: 'none of your groups gives you a role here: ask an administrator for access',
  },
  groups_missing: {
    kind: 'refused',
    words:
      'the identity provider did not say which groups you are in, so no role could be given to you: ask an administrator to have it send them (auth.oidc.groups_claim, auth.oidc.scopes)',
  },
  role_missing: {
    kind: 'refused',
    words:
      'your groups are mapped to a role that does not exist in your tenant: ask an administrator to correct auth.oidc.role_mappings or auth.oidc.default_role',
  },
  user_unknown: {
    kind: 'refused',
    words: 'there is no user with your e-mail address here yet: ask an administrator to create one',
  },
  user_inactive: { kind: 'refused', words: 'your user has been deactivated here: ask an administrator' },
  other_identity: {
    kind: 'refused',
    words:
      'the user with your e-mail address belongs to another account of the identity provider: ask an administrator to release it',
  },
  break_glass_user: {
    kind: 'refused',
    words:
      'this e-mail address is kept for emergency access with a password (auth.oidc.break_glass_emails): sign in as somebody else',
  },
  provider_unreachable: {
    kind: 'unavailable',
    words: 'the identity provider does not answer: try again in a moment',
  },
  registration_refused: {
    kind: 'unavailable',
    words:
      'the identity provider does not accept this server: ask an administrator to check client id, client secret and redirect URL',
  },
} as const satisfies Record<string, { kind: RefusalKind; words: string }>;

export type RefusalReason = keyof typeof REFUSALS;

export const REFUSAL_REASONS = Object.keys(REFUSALS) as RefusalReason[];

/** The person of the refusal, as far as known when it is thrown. */
export type RefusedPerson = { subject?: string; email?: string; tenantId?: string; userId?: string };

export class SsoRefusal extends Error {
  readonly reason: RefusalReason;
  readonly person: RefusedPerson;

  constructor(reason: RefusalReason, options: { person?: RefusedPerson; cause?: unknown } = {}) {
    super(REFUSALS[reason].words, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.person = options.person ?? {};
  }

  get kind(): RefusalKind {
    return REFUSALS[this.reason].kind;
  }
}
