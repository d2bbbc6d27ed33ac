/** How numbers and moments are said. */

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** To the second, in UTC as the API writes it. */
export const timeText = (iso: string | null): string => (iso === null ? '-' : iso.slice(0, 19).replace('T', ' '));
