/** Why a call has no usable answer. Each program words it differently, from these facts. */

/** The control plane refused the call with a problem document (RFC 9457). */
export type Refusal = {
  readonly kind: 'refused';
  readonly status: number;
  /** The end of the problem's `type`: `not_found`, `token_expired`, … */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** The value of Retry-After in seconds, if present. */
  readonly retryAfter: string | null;
};

/** A server answers, but not like a control plane. */
export type UnexpectedAnswer = {
  readonly kind: 'unexpected';
  readonly status: number;
  /** The target of a redirect. */
  readonly location: string | null;
  /** What is wrong with an answer that looks like one of a control plane. */
  readonly reason: string | null;
};

/** There is no answer, or only a part of one. */
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

/** Reads the refusal in an unsuccessful answer. */
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

/** Returns undefined if the body is not a problem document. Then another server answers at that address. */
function readProblem(contentType: string, body: string): Pick<Refusal, 'code' | 'detail'> | undefined {
  if (!contentType.includes('application/problem+json')) return undefined;
  try {
    const { type, detail, title } = JSON.parse(body) as Record<string, unknown>;
    return { code: String(type).replace(/^urn:svc:error:/, ''), detail: String(detail ?? title) };
  } catch {
    return undefined;
  }
}
