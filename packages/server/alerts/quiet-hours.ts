/** Quiet hours of a rule. It is pure. */
export type QuietHours = {
  quiet_from: string | null;
  quiet_until: string | null;
  quiet_timezone: string | null;
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** Returns when the quiet hours end, or null if `now` is not within them. They may go over midnight. */
export function endOfQuiet(
  { quiet_from: from, quiet_until: until, quiet_timezone: zone }: QuietHours,
  now: Date,
): Date | null {
  if (from === null || until === null) return null;
  const [start, end] = [minutesOf(from), minutesOf(until)];
  if (start === end) return null;
  const at = minutesOf(
    new Intl.DateTimeFormat('en-GB', { timeZone: zone ?? 'UTC', hour: '2-digit', minute: '2-digit' }).format(now),
  );
  const isQuiet = start < end ? at >= start && at < end : at >= start || at < end;
  if (!isQuiet) return null;
  const left = (end - at + DAY_MINUTES) % DAY_MINUTES;
  return new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS + left * MINUTE_MS);
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return (hours % 24) * 60 + minutes;
}
