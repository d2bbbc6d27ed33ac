/** Values of which the API has shown only masks. */

export const MASK = '***';

/** Names of the masked parts, such as `conf.password`. */
export function maskedIn(value: unknown, name: string): string[] {
  if (typeof value === 'string') return value.includes(MASK) ? [name] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => maskedIn(one, `${name}.${key}`));
}
