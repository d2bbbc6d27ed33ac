/** Why a call has no answer that can be used. Each program says it in its own words; the facts are these. */

/** The control plane says no, with a problem document (RFC 9457). */
export type Refusal = {
  readonly kind: 'refused';
  readonly status: number;
  /** `not_found`, `token_expired`, …: the end of the problem's `type`. */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** Seconds, when it says so. */
  readonly retryAfter: string | null;
};

/** Something answers, but not as a control plane does. */
export type UnexpectedAnswer = {
  readonly kind: 'unexpected';
  readonly status: number;
  /** Where it wants to send the caller. */
  readonly location: string | null;
  /** What is wrong with an answer that claims to be one. */
  readonly reason: string | null;
};

/** No answer, or only a part of one. */
export type NoAnswer = {
  readonly kind: 'unreachable';
  readonly isTimeout: boolean;
  readonly cause: unknown;
};

export type Failure = Refusal | UnexpectedAnswer | NoAnswer;

export class ApiError extends Error {
  readonly failure: Failure;

  constructor(server: string, failure: Failure) {
    super(`${server}: ${summaryOf(failure)}`, { ...(failure.kind === 'unreachable' && { cause: failure.cause }) });
    this.name = 'ApiError';
    this.failure = failure;
  }
}

function summaryOf(failure: Failure): string {
  switch (failure.kind) {
    case 'refused':
      return `${failure.status} ${failure.code}: ${failure.detail}`;
    case 'unexpected':
      return `unexpected answer, status ${failure.status}`;
    case 'unreachable':
      return failure.isTimeout ? 'no answer in time' : 'no answer';
  }
}

export const noAnswer = (cause: unknown): NoAnswer => ({
  kind: 'unreachable',
  isTimeout: cause instanceof Error && cause.name === 'TimeoutError',
  cause,
});

/** What an answer that is no success says. */
export function refusalOf(response: Pick<Response, 'status' | 'headers'>, body: string): Refusal | UnexpectedAnswer {
  const { status, headers } = response;
  const problem = readProblem(headers.get('content-type') ?? '', body);
  if (problem === undefined) return unexpectedAnswer(response);
  return {
    kind: 'refused',
    status,
    ...problem,
    requestId: headers.get('x-request-id'),
    retryAfter: headers.get('retry-after'),
  };
}

export const unexpectedAnswer = (
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  reason: string | null = null,
): UnexpectedAnswer => ({ kind: 'unexpected', status, location: headers.get('location'), reason });

/** Undefined when the body is no problem of ours: then something else answers at that address. */
function readProblem(contentType: string, body: string): Pick<Refusal, 'code' | 'detail'> | undefined {
  if (!contentType.includes('application/problem+json')) return undefined;
  try {
    const { type, detail, title } = JSON.parse(body) as Record<string, unknown>;
    return { code: String(type).replace(/^urn:svc:error:/, ''), detail: String(detail ?? title) };
  } catch {
    return undefined;
  }
}
