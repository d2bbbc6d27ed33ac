/** The events of triggers that end their task. Pure. */
import type { AttemptOutcome } from '../shared/attempts.ts';

/**
 * Returns how the event ends its task without a process (`end_from_trigger`). Returns undefined when the task continues
 * with it.
 */
export function endingOf(event: string): AttemptOutcome | undefined {
  const { ends, xcoms } = JSON.parse(event) as { ends?: unknown; xcoms?: Record<string, unknown> };
  if (ends !== 'success' && ends !== 'failed' && ends !== 'skipped') return undefined;
  const values = Object.entries(xcoms ?? {}).map(([key, value]) => ({ key, value: JSON.stringify(value) }));
  return {
    state: ends,
    ...(ends === 'failed' && {
      retryable: false,
      failure: { cause: 'exception', text: 'the trigger has failed the task' },
    }),
    ...(values.length > 0 && { xcoms: values }),
  };
}
