/** Formats numbers and moments. */

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Formats a moment with seconds, in UTC as the API writes it. */
export const timeText = (iso: string | null): string => (iso === null ? '-' : iso.slice(0, 19).replace('T', ' '));
