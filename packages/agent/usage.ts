/** What an attempt has used, for its outcome. */
import { readFileSync } from 'node:fs';
import type { ProcessExit } from './exit-cause.ts';
import type { Outcome } from './outcome.ts';

/** Of the control group of this container. A host has no such file at its root. */
const PEAK = '/sys/fs/cgroup/memory.peak';

/** Returns the largest memory of this container until now. Undefined outside of one, and before Linux 5.19. */
export function readContainerPeak(path = PEAK): number | undefined {
  try {
    const bytes = Number(readFileSync(path, 'utf8'));
    return Number.isFinite(bytes) ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A process that ended without a result could not report its usage, so the kernel's numbers of its end count. In a
 * container for one attempt, the memory is that of the container, because its limit applies to that.
 */
export function withUsage(
  outcome: Outcome,
  seen: { exit: ProcessExit | undefined; seconds: number; containerPeak: () => number | undefined },
): Outcome {
  const usage = outcome.usage ?? (seen.exit?.usage && { ...seen.exit.usage, run: seen.seconds });
  if (typeof usage !== 'object' || usage === null) return outcome;
  const memory = seen.containerPeak();
  return { ...outcome, usage: memory === undefined ? usage : { ...usage, memory } };
}
