/** Now, in UTC with microseconds: two tasks of a fast chain end within the same millisecond. */
export function nowIso(): string {
  const microseconds = Math.round((performance.timeOrigin + performance.now()) * 1_000);
  const text = new Date(Math.floor(microseconds / 1_000)).toISOString();
  return `${text.slice(0, -1)}${String(microseconds % 1_000).padStart(3, '0')}Z`;
}
