/**
 * Takes JSON text apart and joins it again without changing a value. `JSON.parse` would turn 12345678901234567890 into
 * another number and 1.0 into 1. It would also keep only one of two equal keys, and reorder keys that look like
 * numbers. A secret store must return what it received. Scalars therefore stay as they were written, and objects are
 * lists of entries, in which `__proto__` is a key like any other.
 */
import { nestingOf } from '@svc/spec/json-shape.ts';

export type JsonNode = JsonObject | JsonArray | JsonScalar;
export type JsonObject = { readonly kind: 'object'; readonly entries: readonly JsonEntry[] };
export type JsonArray = { readonly kind: 'array'; readonly items: readonly JsonNode[] };
/** `text` is the source of the scalar: `"a"`, `1.0`, `true`, `null`. */
export type JsonScalar = { readonly kind: 'scalar'; readonly text: string };
export type JsonEntry = readonly [key: string, value: JsonNode];

/** Functions over the tree recurse, so text with deeper nesting is refused on input. */
export const MAX_NESTING = 100;

export function readJson(text: string): JsonNode | 'not-json' | 'too-deep' {
  try {
    JSON.parse(text); // validates the text, because the scanner below trusts its input
  } catch {
    return 'not-json';
  }
  return nestingOf(text) > MAX_NESTING ? 'too-deep' : new Scanner(text).read();
}

/** Writes no spaces between tokens. */
export function writeJson(node: JsonNode): string {
  switch (node.kind) {
    case 'scalar':
      return node.text;
    case 'array':
      return `[${node.items.map(writeJson).join(',')}]`;
    case 'object':
      return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${writeJson(value)}`).join(',')}}`;
  }
}

export const scalarOf = (value: string): JsonScalar => ({ kind: 'scalar', text: JSON.stringify(value) });

export const valueOf = (scalar: JsonScalar): unknown => JSON.parse(scalar.text);

const WORD_END = /[\s,:\]}]|$/g;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonNode {
    this.#skipBlanks();
    switch (this.#text[this.#at]) {
      case '{':
        return { kind: 'object', entries: this.#list('}', () => this.#entry()) };
      case '[':
        return { kind: 'array', items: this.#list(']', () => this.read()) };
      default:
        return { kind: 'scalar', text: this.#word() };
    }
  }

  #list<Item>(end: ']' | '}', readItem: () => Item): Item[] {
    const items: Item[] = [];
    this.#at += 1;
    this.#skipBlanks();
    while (this.#text[this.#at] !== end) {
      items.push(readItem());
      this.#skipBlanks();
      if (this.#text[this.#at] === ',') this.#at += 1;
      this.#skipBlanks();
    }
    this.#at += 1;
    return items;
  }

  #entry(): JsonEntry {
    const key = JSON.parse(this.#word()) as string;
    this.#skipBlanks();
    this.#at += 1; // the colon
    return [key, this.read()];
  }

  #word(): string {
    const start = this.#at;
    if (this.#text[start] === '"') {
      this.#at = endOfString(this.#text, start);
    } else {
      WORD_END.lastIndex = start;
      this.#at = WORD_END.exec(this.#text)?.index ?? this.#text.length;
    }
    return this.#text.slice(start, this.#at);
  }

  #skipBlanks(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? '-')) this.#at += 1;
  }
}

/** Returns the position after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
