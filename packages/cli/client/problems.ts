/** What a server's refusal means to the person at the terminal: one line, and the next step. */
import { CliError, EXIT, messageOf, systemCode } from '../cli-error.ts';
import type { ExitCode } from '../cli-error.ts';

type Problem = { readonly code: string; readonly detail: string };

/** Undefined when the body is no problem of ours: then something else answers at that address. */
export function readProblem(contentType: string, body: string): Problem | undefined {
  if (!contentType.includes('application/problem+json')) return undefined;
  try {
    const { type, detail, title } = JSON.parse(body) as Record<string, unknown>;
    return { code: String(type).replace(/^urn:svc:error:/, ''), detail: String(detail ?? title) };
  } catch {
    return undefined;
  }
}

export function refusal(input: {
  server: string;
  response: Pick<Response, 'status' | 'headers'>;
  body: string;
  /** `SVC_TOKEN`, `--token`, or undefined for a stored login or none. */
  tokenFrom: string | undefined;
}): CliError {
  const { server, response, body, tokenFrom } = input;
  const problem = readProblem(response.headers.get('content-type') ?? '', body);
  if (problem === undefined) return notOurs(server, response);
  const requestId = response.headers.get('x-request-id');
  const retryAfter = response.headers.get('retry-after');
  const detail =
    response.status >= 500 && requestId !== null ? `${problem.detail} (request ${requestId})` : problem.detail;
  const failed = (exitCode: ExitCode, hint?: string): CliError =>
    new CliError(detail, { exitCode, ...(hint !== undefined && { hint }) });
  switch (response.status) {
    case 400:
      return failed(EXIT.usage);
    case 401:
      if (problem.code === 'wrong_credentials') return failed(EXIT.denied);
      return new CliError(notLoggedIn(server, problem), {
        exitCode: EXIT.denied,
        hint: loginHint(server, tokenFrom),
      });
    case 403:
      return failed(
        EXIT.denied,
        problem.code === 'permission_denied' ? 'ask an administrator for a role that has it' : undefined,
      );
    case 404:
      return failed(EXIT.notFound);
    case 429:
      return failed(EXIT.failed, retryAfter === null ? undefined : `try again in ${retryAfter} seconds`);
    case 503:
      return failed(problem.code === 'encryption_unavailable' ? EXIT.failed : EXIT.unreachable);
    default:
      return failed(EXIT.failed);
  }
}

/** The server speaks to programs ("send a token"); this is the same for people. */
function notLoggedIn(server: string, problem: Problem): string {
  switch (problem.code) {
    case 'not_authenticated':
      return `you are not logged in to ${server}`;
    case 'token_expired':
    case 'session_ended':
    case 'session_too_old':
      return `your login to ${server} has ended`;
    case 'token_invalid':
      return `${server} does not know this token`;
    default:
      return problem.detail;
  }
}

function loginHint(server: string, tokenFrom: string | undefined): string {
  return tokenFrom === undefined
    ? `log in with: svc auth login --server ${server}`
    : `the token came from ${tokenFrom}: make a new one with: svc auth create-token --server ${server}`;
}

function notOurs(server: string, response: Pick<Response, 'status' | 'headers'>): CliError {
  const location = response.headers.get('location');
  const what = location === null ? `status ${response.status}` : `a redirect to ${location}`;
  return new CliError(`${server} does not answer as a svc control plane does (${what})`, {
    exitCode: EXIT.unreachable,
    hint: 'check --server or SVC_SERVER_URL: it is the address under which /api/v2 is found',
  });
}

/** No answer at all. */
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
    hint: 'is the control plane running? "svc lite" starts one here; --server or SVC_SERVER_URL names another',
  });
}
