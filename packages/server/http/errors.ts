/**
 * Every error that the API can answer, in one table. A handler throws `new ApiError(code, detail)`; status, title and
 * body follow from the table.
 */
const ERRORS = {
  invalid_request: { status: 400, title: 'Invalid request' },
  invalid_json: { status: 400, title: 'Body is not valid JSON' },
  unknown_role: { status: 400, title: 'Unknown role' },
  unsupported_option: { status: 400, title: 'Option not supported' },
  answer_too_large: { status: 400, title: 'Answer too large' },
  unsafe_redirect: { status: 400, title: 'Unsafe redirect target' },
  sso_start_again: { status: 400, title: 'Sign-in is over' },
  not_authenticated: { status: 401, title: 'Not authenticated' },
  token_expired: { status: 401, title: 'Token expired' },
  token_invalid: { status: 401, title: 'Token invalid' },
  session_ended: { status: 401, title: 'Session ended' },
  session_too_old: { status: 401, title: 'Session too old' },
  tenant_disabled: { status: 401, title: 'Tenant disabled' },
  wrong_credentials: { status: 401, title: 'Wrong credentials' },
  permission_denied: { status: 403, title: 'Permission denied' },
  people_only: { status: 403, title: 'For people only' },
  cross_site_request: { status: 403, title: 'Cross-site request refused' },
  passwords_off: { status: 403, title: 'Password login is off' },
  sso_refused: { status: 403, title: 'Sign-in refused' },
  disabled: { status: 403, title: 'Disabled' },
  webhook_refused: { status: 403, title: 'Webhook refused' },
  not_found: { status: 404, title: 'Not found' },
  route_not_found: { status: 404, title: 'No such path' },
  log_missing: { status: 404, title: 'Task log missing' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request took too long' },
  already_exists: { status: 409, title: 'Already exists' },
  conflict: { status: 409, title: 'Conflict' },
  precondition_failed: { status: 412, title: 'Changed meanwhile' },
  body_too_large: { status: 413, title: 'Body too large' },
  file_too_large: { status: 413, title: 'File too large' },
  not_text: { status: 415, title: 'Not a text file' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  precondition_required: { status: 428, title: 'Precondition required' },
  test_rate_limited: { status: 429, title: 'Too many tests' },
  login_rate_limited: { status: 429, title: 'Too many failed logins' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  sso_unavailable: { status: 503, title: 'Single sign-on unavailable' },
  encryption_unavailable: { status: 503, title: 'No encryption key configured' },
  statement_timeout: { status: 503, title: 'Database took too long' },
  overloaded: { status: 503, title: 'Overloaded' },
  logs_unavailable: { status: 503, title: 'Task logs unavailable' },
  database_unavailable: { status: 503, title: 'Database unavailable' },
  not_ready: { status: 503, title: 'Not ready' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** Groups the titles by status for the API document. */
export function titlesByStatus(codes: readonly ErrorCode[]): Map<number, string[]> {
  const titles = new Map<number, string[]>();
  for (const code of codes) {
    const { status, title } = ERRORS[code];
    titles.set(status, [...(titles.get(status) ?? []), title]);
  }
  return titles;
}

/** A problem body of RFC 9457. All five fields are always present. */
export type Problem = { type: string; title: string; status: number; detail: string; instance: string };

export function problemOf(error: ApiError, path: string): Problem {
  const { status, title } = ERRORS[error.code];
  return { type: `urn:svc:error:${error.code}`, title, status, detail: error.message, instance: path };
}
