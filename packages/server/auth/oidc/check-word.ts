import { createHash } from 'node:crypto';

/**
 * A short code that the browser and the terminal both show. The person compares them and thereby knows which command
 * line is being approved.
 */
export function checkWordOf(challenge: string): string {
  const hash = createHash('sha256').update(`check ${challenge}`).digest('hex');
  const letters = BigInt(`0x${hash}`).toString(32).toUpperCase();
  return `${letters.slice(0, 4)}-${letters.slice(4, 8)}`;
}
