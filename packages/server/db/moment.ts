/**
 * Timestamps from Postgres: ISO 8601 in UTC with microseconds (`2026-11-15T06:31:12.123456Z`). Logical dates are
 * compared and displayed to the microsecond, but a JavaScript Date only has milliseconds.
 */

/** Converts the text that Postgres sends, whatever the session's time zone: `2026-11-15 06:31:12.123456+00`. */
export function momentFromPostgres(text: string): string {
  if (text.endsWith('+00') && text.charAt(10) === ' ') {
    const fraction = text.length > 22 ? text.slice(20, -3) : '';
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(6, '0')}Z`;
  }
  // Another session time zone: Date applies the offset, and the microseconds are added again.
  const match = /^(.+?)(?:\.(\d{1,6}))?([+-]\d\d(?::?\d\d)?(?::?\d\d)?)$/.exec(text);
  if (!match) return text; // infinity
  const [, local = '', fraction = '', offset = ''] = match;
  const seconds = new Date(`${local.replace(' ', 'T')}${offset.length === 3 ? `${offset}:00` : offset}`);
  return `${seconds.toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}Z`;
}

export const epochMs = (moment: string): number => Date.parse(moment);
