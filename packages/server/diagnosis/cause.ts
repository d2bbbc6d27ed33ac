/** Turns the stored columns of a failure and the error in its log into one structured cause. It is pure. */
import { createHash } from 'node:crypto';
import {
  FAILURE_CAUSES,
  causeOf,
  exitOf,
  isFailureCause,
  isInfrastructure,
  shownFailure,
} from '@svc/spec/failure-causes.ts';
import type { FailureCause, FailureColumns } from '@svc/spec/failure-causes.ts';
import { safeText, safeTextOrNull } from '@svc/spec/text/safe-text.ts';
import type { LogError } from './error-in-log.ts';
import type { Cause, FailedTry } from './types.ts';

const TIMEOUTS = new Set<FailureCause>(['execution_timeout', 'sensor_timeout', 'run_timed_out', 'pod_deadline']);
/** Causes that an exception in the code of the author explains. */
const RAISED = new Set<FailureCause>(['exception', 'failed_without_retry', 'sensor_timeout', 'dag_file_failed']);

/** Returns null if nothing is known about the failure. */
export function structuredCause(stored: FailureColumns, inLog: LogError | null): Cause | null {
  const { failure_reason: reason, failure_detail: detail } = shownFailure(stored);
  const code = causeOf(reason ?? '');
  if (!isFailureCause(code)) return null;
  const { text: meaning, witness } = FAILURE_CAUSES[code];
  const exit = exitOf(detail);
  return {
    code,
    meaning,
    seen_by: witness,
    is_infrastructure: isInfrastructure(code),
    is_timeout: TIMEOUTS.has(code),
    is_out_of_memory: code === 'out_of_memory',
    detail: safeTextOrNull(detail),
    exit_code: exit && 'exitCode' in exit ? exit.exitCode : null,
    signal: exit && 'signal' in exit ? exit.signal : null,
    exception: safeError(inLog) ?? (RAISED.has(code) ? errorInDetail(detail) : null),
    fingerprint: fingerprintOf({ failure_reason: reason, failure_detail: detail }),
  };
}

export function shortCause(stored: FailureColumns): FailedTry['cause'] {
  const { failure_reason: reason, failure_detail: detail } = shownFailure(stored);
  const code = causeOf(reason ?? '');
  return isFailureCause(code) ? { code, meaning: FAILURE_CAUSES[code].text, detail: safeTextOrNull(detail) } : null;
}

/**
 * Returns the same short text for failures with the same cause. Numbers, hexadecimal ids, quoted values and addresses
 * are replaced, because they differ between two failures with one cause.
 */
export function fingerprintOf({ failure_reason: reason, failure_detail: detail }: FailureColumns): string {
  const text = (detail ?? '')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi, '#')
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, "'#'")
    .replace(/\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b/gi, '#')
    .replace(/\d+/g, '#');
  return createHash('sha256')
    .update(`${causeOf(reason ?? '')}\n${text}`)
    .digest('hex')
    .slice(0, 16);
}

/** The runtime writes an exception into the detail as `Type: message`. */
function errorInDetail(detail: string | null): LogError | null {
  const { type, message = '' } =
    /^(?<type>[A-Za-z_][\w.]{0,200})(?:: (?<message>[^]*))?$/.exec(detail ?? '')?.groups ?? {};
  if (type === undefined) return null;
  const place = { file: null, line: null, function: null, code: null };
  return { type: safeText(type), message: safeText(message), ...place, root_cause: null };
}

/** Log lines are cleaned and masked before they are read, so only single lines of code are limited here. */
const safeError = (error: LogError | null): LogError | null => error && { ...error, code: safeTextOrNull(error.code) };
