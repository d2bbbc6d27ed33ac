/**
 * Failures between the tool server and the control plane, in words for an agent: what is wrong, whether a retry helps,
 * and what a person must do otherwise.
 */
import type { Failure, NoAnswer, Refusal, UnexpectedAnswer } from '@svc/client/failure.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';

export type FailureKind =
  | 'invalid'
  | 'not_authenticated'
  | 'not_permitted'
  | 'not_found'
  | 'unavailable'
  | 'unreachable'
  | 'unexpected';

export class ControlPlaneError extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.name = 'ControlPlaneError';
    this.kind = kind;
  }
}

/** Where the caller's token comes from, because a new token must go there. */
export type TokenSource = 'environment' | 'request';

export type FailureContext = { server: string; tokenSource: TokenSource; hasToken: boolean };

/** Explains a failure to the agent. */
export function controlPlaneErrorOf(context: FailureContext, failure: Failure): ControlPlaneError {
  switch (failure.kind) {
    case 'refused':
      return refused(context, failure);
    case 'unexpected':
      return unexpected(context, failure);
    case 'unreachable':
      return unreachable(context, failure);
  }
}

function refused(context: FailureContext, { status, code, ...refusal }: Refusal): ControlPlaneError {
  const detail = safeText(refusal.detail, 500);
  if (status === 401) return new ControlPlaneError('not_authenticated', notAuthenticated(context, code, detail));
  if (status === 403) {
    return new ControlPlaneError(
      'not_permitted',
      `not permitted: ${detail}. Trying again does not help: an administrator has to give this user a role that has it (viewer has every read)`,
    );
  }
  if (status === 404) {
    return new ControlPlaneError(
      'not_found',
      `not found: ${detail}. Check the ids (list_dags shows the DAGs of this user); what other tenants have does not exist here`,
    );
  }
  if (status >= 500) {
    const where = refusal.requestId === null ? '' : ` (request ${safeText(refusal.requestId, 130)})`;
    return unavailable(`the control plane cannot answer right now: ${detail}${where}`);
  }
  return new ControlPlaneError('invalid', `the control plane refuses this: ${detail}`);
}

/** Another server answers at that address. */
function unexpected({ server }: FailureContext, { status, reason }: UnexpectedAnswer): ControlPlaneError {
  if (status >= 500) return unavailable(`${server} answers with status ${status}`);
  return new ControlPlaneError(
    'unexpected',
    reason === null
      ? `${server} does not answer as a svc control plane does (status ${status}): a person has to check --server or SVC_SERVER_URL of svc-mcp`
      : `${server} does not answer as a svc control plane does: ${reason}`,
  );
}

const unavailable = (what: string): ControlPlaneError =>
  new ControlPlaneError('unavailable', `${what}. Try again in a few seconds`);

function notAuthenticated(context: FailureContext, code: string, detail: string): string {
  const { server, tokenSource, hasToken } = context;
  const renew = `A person gets a new one with: svc auth create-token --server ${server} --username <email>`;
  const where =
    tokenSource === 'environment'
      ? 'then sets it as SVC_TOKEN and starts svc-mcp again, because the variable is read once'
      : 'then sends it in the header Authorization: Bearer <token>';
  if (!hasToken) return `not authenticated: SVC_TOKEN is not set. ${renew}, ${where}`;
  const what =
    { token_expired: 'the token has expired', session_ended: 'the session of the token was ended' }[code] ?? detail;
  return `not authenticated: ${what}. Trying again does not help. ${renew}, ${where}`;
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'there is no way to that host',
};

/** There is no answer at all. */
function unreachable({ server }: FailureContext, { isTimeout, cause }: NoAnswer): ControlPlaneError {
  const code = codeOf(cause);
  const reason = isTimeout ? 'no answer in time' : (REASONS[code] ?? (code === '' ? 'the connection failed' : code));
  return new ControlPlaneError(
    'unreachable',
    `the control plane at ${server} cannot be reached: ${reason}. It may be restarting: try again in a few seconds. ` +
      'If it stays away, a person has to start it, or to correct --server or SVC_SERVER_URL of svc-mcp ' +
      '(svc lite listens on http://127.0.0.1:8088, a server on http://127.0.0.1:8080)',
  );
}

/** Returns the system's code of the innermost cause that has one. */
function codeOf(error: unknown): string {
  let code = '';
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    const own: unknown = (inner as NodeJS.ErrnoException).code;
    if (typeof own === 'string') code = own;
  }
  return code;
}
