/**
 * Measures the shape of a JSON text before it is parsed: its nesting depth, and whether an object has a key twice,
 * which a parser accepts silently. Each check is one pass without recursion. The text must be valid JSON.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringEnd } from './json-spans.ts';

/** Returns the nesting depth of brackets. */
export function nestingOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, (depth += 1));
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/** Number of characters that are scanned between two pauses. */
const PIECE = 64 * 1024;

/** Returns the first key that occurs twice in its object, with the keys around it: `conf.limits.max`. */
export function repeatedKey(text: string): string | undefined {
  for (const found of search(text)) if (found !== undefined) return found;
  return undefined;
}

/** Does the same in turns with other work. */
export async function repeatedKeyInTurns(text: string): Promise<string | undefined> {
  for (const found of search(text)) {
    if (found !== undefined) return found;
    await nextTurn();
  }
  return undefined;
}

/** `key` is the key of the value that is being scanned. */
type Open = { isList: boolean; keys: Set<string> | undefined; key: string };

function* search(text: string): Generator<string | undefined> {
  const open: Open[] = [];
  let isKeyNext = false;
  let pause = PIECE;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        // "
        const end = stringEnd(text, at);
        const inner = open.at(-1);
        if (isKeyNext && inner) {
          const key = keyOf(text, at, end);
          inner.key = key;
          inner.keys ??= new Set();
          if (inner.keys.has(key)) yield pathOf(open);
          inner.keys.add(key);
          isKeyNext = false;
        }
        at = end - 1;
        break;
      }
      case 0x5b: // [
      case 0x7b: // {
        isKeyNext = text[at] === '{';
        open.push({ isList: !isKeyNext, keys: undefined, key: '' });
        break;
      case 0x5d: // ]
      case 0x7d: // }
        open.pop();
        isKeyNext = false;
        break;
      case 0x2c: // ,
        isKeyNext = open.at(-1)?.isList === false;
        break;
      default:
    }
    if (at < pause) continue;
    pause = at + PIECE;
    yield undefined;
  }
}

function keyOf(text: string, start: number, end: number): string {
  const written = text.slice(start + 1, end - 1);
  return written.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : written;
}

const MAX_NAMED = 5;
const LONGEST_NAME = 50;

function pathOf(open: readonly Open[]): string {
  const keys = open.filter(({ isList }) => !isList).map(({ key }) => key.slice(0, LONGEST_NAME).toWellFormed());
  return keys.length > MAX_NAMED ? `${keys.slice(0, MAX_NAMED).join('.')}…` : keys.join('.');
}
