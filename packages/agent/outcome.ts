/** Converts the result of the task process into the outcome for the control plane. Pure. */
import { itemTexts, memberTexts } from '@svc/spec/json-spans.ts';
import { isFailureCause, mayReport } from '@svc/spec/failure-causes.ts';
import type { FailureCause } from '@svc/spec/failure-causes.ts';

export type Failure = { cause: FailureCause; text?: string };

/** `stored` names the stored value that has the text. `value` is then a description of it. */
type SentXcom = { key: string; value: string; length?: unknown; stored?: unknown };

/** As the control plane reads it (AttemptOutcome); `value` is JSON text. */
export type Outcome = {
  state: 'success' | 'failed' | 'skipped' | 'reschedule' | 'deferred';
  retryable?: boolean;
  /** Seconds until the next try, if the retry policy of the task has said so. */
  retryDelay?: number;
  failure?: Failure;
  /** True when the task process has reported the failure itself, after it called the task's callbacks. */
  calledCallbacks?: true;
  rescheduleAt?: string;
  /** As the control plane reads it (Deferral). Its texts are JSON and are passed on unchanged. */
  deferral?: unknown;
  skips?: unknown;
  xcoms?: SentXcom[];
  assetEvents?: unknown;
  renderedFields?: unknown;
  renderedMapIndex?: string;
  /** What the processes of the attempt have used, as the control plane reads it. */
  usage?: unknown;
  endedAt?: string;
  pid?: number | undefined;
};

export type ResultMessage = {
  state?: unknown;
  retryable?: unknown;
  retry_delay?: unknown;
  reschedule_at?: unknown;
  deferral?: unknown;
  failure?: { cause?: unknown; text?: unknown } | null;
  skips?: unknown;
  asset_events?: unknown;
  rendered_fields?: unknown;
  rendered_map_index?: unknown;
  usage?: unknown;
};

const STATES = ['success', 'failed', 'skipped', 'reschedule', 'deferred'] as const;

/** `line` is the received message. Values in it are passed on unchanged. */
export function outcomeOfResult(
  line: string,
  message: ResultMessage,
  seen: { seconds: number; executionTimeout: number | null },
): Outcome {
  const state = STATES.find((known) => known === message.state);
  if (state === undefined) return failed('exception', 'the task process sent a result that cannot be read');
  const outcome: Outcome = { state, xcoms: xcomsIn(line), ...optional(message) };
  if (state === 'failed') {
    outcome.failure = failureOfResult(message.failure ?? {}, seen);
    outcome.calledCallbacks = true;
  }
  if (state === 'deferred') {
    if (typeof message.deferral !== 'object' || message.deferral === null)
      return failed('exception', 'the task did not say what it waits for');
    return { ...outcome, deferral: message.deferral };
  }
  if (state !== 'reschedule') return outcome;
  if (typeof message.reschedule_at !== 'string')
    return failed('exception', 'the task did not say when to run it again');
  return { ...outcome, rescheduleAt: message.reschedule_at };
}

export const failed = (cause: FailureCause, text: string): Outcome => ({ state: 'failed', failure: { cause, text } });

function optional(message: ResultMessage): Partial<Outcome> {
  const { skips, asset_events: assetEvents, rendered_fields: renderedFields, rendered_map_index: mapIndex } = message;
  const { usage } = message;
  return {
    ...(message.retryable === false && { retryable: false }),
    ...(typeof message.retry_delay === 'number' && { retryDelay: message.retry_delay }),
    ...(Array.isArray(skips) && skips.length > 0 && { skips }),
    ...(Array.isArray(assetEvents) && assetEvents.length > 0 && { assetEvents }),
    ...(typeof renderedFields === 'object' && renderedFields !== null && { renderedFields }),
    ...(typeof mapIndex === 'string' && { renderedMapIndex: mapIndex }),
    ...(typeof usage === 'object' && usage !== null && { usage }),
  };
}

/**
 * A task may report only certain causes. Any other cause becomes a plain failure, so that it cannot blame the platform.
 * Its timeout is different: the task reports it as an exception, but the agent has measured it with its own clock.
 */
function failureOfResult(
  { cause, text }: { cause?: unknown; text?: unknown },
  { seconds, executionTimeout }: { seconds: number; executionTimeout: number | null },
): Failure {
  const detail = typeof text === 'string' && text !== '' ? { text } : {};
  const isTimeout = typeof text === 'string' && text.startsWith('AirflowTaskTimeout');
  if (isTimeout && executionTimeout !== null && seconds >= executionTimeout) {
    return {
      cause: 'execution_timeout',
      text: `the task ran longer than its execution_timeout of ${executionTimeout} s`,
    };
  }
  const isOwn = typeof cause === 'string' && isFailureCause(cause) && mayReport('task', cause);
  return { cause: isOwn ? cause : 'exception', ...detail };
}

function xcomsIn(line: string): SentXcom[] {
  const list = memberTexts(line).get('xcoms');
  if (list === undefined || !list.startsWith('[')) return [];
  return itemTexts(list).flatMap((item) => {
    const members = item.startsWith('{') ? memberTexts(item) : new Map<string, string>();
    const key = members.get('key');
    const value = members.get('value');
    if (!key?.startsWith('"') || value === undefined) return [];
    const [length, stored] = [members.get('length'), members.get('stored')];
    return [
      {
        key: JSON.parse(key) as string,
        value,
        ...(length !== undefined && { length: JSON.parse(length) as unknown }),
        ...(stored !== undefined && { stored: JSON.parse(stored) as unknown }),
      },
    ];
  });
}
