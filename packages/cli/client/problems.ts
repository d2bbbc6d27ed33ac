/** Explains a failed call to the person at the terminal: one line, and the next step. */
import type { Failure, Refusal, UnexpectedAnswer } from '@svc/client/failure.ts';
import { CliError, EXIT, messageOf, systemCode } from '../cli-error.ts';
import type { ExitCode } from '../cli-error.ts';

/** Converts any failed call to a CliError. */
export function cliErrorOf(input: {
  server: string;
  failure: Failure;
  /** `SVC_TOKEN`, `--token`, or undefined for a stored login or none. */
  tokenFrom: string | undefined;
  /** True if the token belongs to a service account. */
  isOfService?: boolean;
}): CliError {
  const { server, failure, tokenFrom, isOfService } = input;
  switch (failure.kind) {
    case 'refused':
      return refused({ server, refusal: failure, tokenFrom, isOfService });
    case 'unexpected':
      return notOurs(server, failure);
    case 'unreachable':
      return unreachable(server, failure.cause);
  }
}

function refused(input: {
  server: string;
  refusal: Refusal;
  tokenFrom: string | undefined;
  isOfService: boolean | undefined;
}): CliError {
  const { server, refusal, tokenFrom } = input;
  const { status, code, requestId, retryAfter } = refusal;
  const detail = status >= 500 && requestId !== null ? `${refusal.detail} (request ${requestId})` : refusal.detail;
  const failed = (exitCode: ExitCode, hint?: string): CliError =>
    new CliError(detail, { exitCode, ...(hint !== undefined && { hint }) });
  switch (status) {
    case 400:
      return failed(EXIT.usage);
    case 401:
      if (code === 'wrong_credentials' || code === 'tenant_disabled') return failed(EXIT.denied);
      if (input.isOfService) return failed(EXIT.denied, 'svc service-accounts list shows those there are');
      return new CliError(notLoggedIn(server, refusal), {
        exitCode: EXIT.denied,
        hint: loginHint(server, tokenFrom),
      });
    case 403:
      return failed(
        EXIT.denied,
        code === 'permission_denied' ? 'ask an administrator for a role that has it' : undefined,
      );
    case 404:
      return failed(EXIT.notFound);
    case 429:
      return failed(EXIT.failed, retryAfter === null ? undefined : `try again in ${retryAfter} seconds`);
    case 503:
      return failed(code === 'encryption_unavailable' ? EXIT.failed : EXIT.unreachable);
    default:
      return failed(EXIT.failed);
  }
}

/** Rewords messages of the server, which address programs ("send a token"), for people. */
function notLoggedIn(server: string, refusal: Refusal): string {
  switch (refusal.code) {
    case 'not_authenticated':
      return `you are not logged in to ${server}`;
    case 'token_expired':
    case 'session_ended':
    case 'session_too_old':
      return `your login to ${server} has ended`;
    case 'token_invalid':
      return `${server} does not know this token`;
    default:
      return refusal.detail;
  }
}

function loginHint(server: string, tokenFrom: string | undefined): string {
  return tokenFrom === undefined
    ? `log in with: svc auth login --server ${server}`
    : `the token came from ${tokenFrom}: make a new one with: svc auth create-token --server ${server}`;
}

function notOurs(server: string, { status, location, reason }: UnexpectedAnswer): CliError {
  const what = reason ?? (location === null ? `status ${status}` : `a redirect to ${location}`);
  return new CliError(`${server} does not answer as a svc control plane does (${what})`, {
    exitCode: EXIT.unreachable,
    hint: 'check --server or SVC_SERVER_URL: it is the address under which /api/v2 is found',
  });
}

/** The error for a call without an answer. */
export function unreachable(server: string, error: unknown): CliError {
  const code = systemCode(error) ?? (error instanceof Error ? error.name : '');
  const reason =
    {
      ECONNREFUSED: 'nothing listens there',
      ENOTFOUND: 'there is no such host',
      TimeoutError: 'no answer in time',
      ETIMEDOUT: 'no answer in time',
      ECONNRESET: 'the connection was cut',
    }[code] ?? messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
  return new CliError(`${server} cannot be reached: ${reason}`, {
    exitCode: EXIT.unreachable,
    hint: /certificate/i.test(reason)
      ? 'is its certificate of an authority of your own? NODE_EXTRA_CA_CERTS=<PEM file of the authority> makes it trusted'
      : 'is the control plane running? "svc lite" starts one here; --server or SVC_SERVER_URL names another',
  });
}
