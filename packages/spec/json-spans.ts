/**
 * Extracts parts of a JSON text as they were written. A value that a task pushed must come back unchanged. Parsing and
 * writing it again would turn 1.0 into 1 and change large integers.
 *
 * The text must be valid JSON. For other texts the result is meaningless.
 */

/**
 * Returns the members of an object, each value as its own text. If a name occurs twice, the last value counts, as in
 * parsing.
 */
export function memberTexts(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const name = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    members.set(name, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

/** Returns the items of an array, each as its own text. */
export function itemTexts(text: string): string[] {
  const items: string[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (at < text.length && text[at] !== ']') {
    const end = valueEnd(text, at);
    items.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return items;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[^,\]}\s]*/y;
/** The text inside a container between strings and brackets. */
const PIECE = /[^"[\]{}]*/y;

export function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

export function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first === '{' || first === '[') return containerEnd(text, start);
  return scalarEnd(text, start);
}

export function scalarEnd(text: string, start: number): number {
  SCALAR.lastIndex = start;
  SCALAR.test(text);
  return SCALAR.lastIndex;
}

/** Returns the position after the closing quote, or the end of the text if there is none. */
export function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function containerEnd(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at);
    } else {
      if (character === '{' || character === '[') depth += 1;
      else if (character === '}' || character === ']') depth -= 1;
      at += 1;
      if (depth === 0) return at;
    }
    PIECE.lastIndex = at;
    PIECE.test(text);
    at = PIECE.lastIndex;
  }
  return at;
}

/**
 * Returns the end of the last item that still fits into the piece: a comma or the closing bracket. Returns undefined if
 * the first item is larger than the piece.
 */
export function itemsEnd(text: string, start: number, piece: number): number | undefined {
  const limit = Math.min(text.length, start + piece);
  let end: number | undefined;
  let depth = 0;
  for (let at = start; at < limit; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = stringEnd(text, at) - 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        if (depth === 0) return at;
        depth -= 1;
        break;
      case 0x2c: // ,
        if (depth === 0) end = at;
        break;
      default:
    }
  }
  return end;
}
