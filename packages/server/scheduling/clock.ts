/** Now, in UTC, with the microseconds that a Date does not have. */
export function nowIso(): string {
  const micros = Math.round((performance.timeOrigin + performance.now()) * 1_000);
  const seconds = new Date(Math.floor(micros / 1_000)).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000).padStart(6, '0')}Z`;
}

export const secondsAfter = (moment: string, seconds: number): string =>
  new Date(Date.parse(moment) + seconds * 1_000).toISOString();
