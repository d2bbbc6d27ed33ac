/**
 * Makes the canonical text of large values (canonical.ts) without blocking the event loop. It writes parts of a bounded
 * size, and other work runs between them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJson } from './canonical.ts';

/** Number of values that are written in one turn. */
const PART = 5_000;

export async function canonicalJsonInTurns(value: unknown, options: { part?: number } = {}): Promise<string> {
  const { part = PART } = options;
  const pieces: string[] = [];
  let written = 0;

  async function write(found: unknown): Promise<void> {
    const count = countValues(found, part);
    written += count;
    if (written > part) {
      written = 0;
      await nextTurn();
    }
    if (count < part || typeof found !== 'object' || found === null) {
      pieces.push(canonicalJson(found));
    } else if (Array.isArray(found)) {
      await writeMembers(
        '[]',
        found.map((item: unknown) => ['', item]),
      );
    } else {
      const members = Object.entries(found).filter(([, item]) => item !== undefined);
      members.sort(([a], [b]) => (a < b ? -1 : 1));
      await writeMembers(
        '{}',
        members.map(([key, item]) => [`${JSON.stringify(key)}:`, item]),
      );
    }
  }

  async function writeMembers(brackets: '[]' | '{}', members: readonly (readonly [string, unknown])[]): Promise<void> {
    pieces.push(brackets.charAt(0));
    for (const [index, [key, item]] of members.entries()) {
      pieces.push(index === 0 ? key : `,${key}`);
      await write(item);
    }
    pieces.push(brackets.charAt(1));
  }

  await write(value);
  return pieces.join('');
}

/** Counts the values inside a value, and stops at the limit. */
function countValues(value: unknown, limit: number): number {
  const pending: unknown[] = [value];
  let count = 0;
  for (let next = pending.pop(); next !== undefined && count < limit; next = pending.pop()) {
    count += 1;
    if (typeof next !== 'object' || next === null) continue;
    const items = Object.values(next) as unknown[];
    for (let at = 0; at < items.length && count < limit; at += 1) {
      if (typeof items[at] === 'object' && items[at] !== null) pending.push(items[at]);
      else count += 1;
    }
  }
  return Math.min(count, limit);
}
