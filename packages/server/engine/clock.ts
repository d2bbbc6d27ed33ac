/**
 * Now, in UTC, to the microsecond. The milliseconds are the wall clock's, which may be set while we run; below them counts
 * the steady clock, so that two moments in one millisecond differ.
 */
export function nowIso(): string {
  const below = Math.floor(performance.now() * 1_000) % 1_000;
  return `${new Date().toISOString().slice(0, 23)}${String(below).padStart(3, '0')}Z`;
}

export const secondsAfter = (moment: string, seconds: number): string =>
  new Date(Date.parse(moment) + seconds * 1_000).toISOString();
