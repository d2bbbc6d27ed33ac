import { createHash } from 'node:crypto';

/** Shown in the browser and in the terminal, for the person to compare: who started what is being approved? */
export function checkWordOf(challenge: string): string {
  const hash = createHash('sha256').update(`check ${challenge}`).digest('hex');
  const letters = BigInt(`0x${hash}`).toString(32).toUpperCase();
  return `${letters.slice(0, 4)}-${letters.slice(4, 8)}`;
}
