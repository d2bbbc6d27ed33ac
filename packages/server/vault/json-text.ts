/**
 * JSON as text that is taken apart and put together again without changing a value. `JSON.parse` would turn
 * 12345678901234567890 into another number and 1.0 into 1, keep one of two equal keys, and reorder keys that look like
 * numbers; a secret store must hand back what it was given. Scalars are therefore kept as they were written, and objects
 * as lists of entries, in which `__proto__` is a key like any other.
 */
import { nestingOf } from '@svc/spec/json-shape.ts';

export type JsonNode = JsonObject | JsonArray | JsonScalar;
export type JsonObject = { readonly kind: 'object'; readonly entries: readonly JsonEntry[] };
export type JsonArray = { readonly kind: 'array'; readonly items: readonly JsonNode[] };
/** `text` is the source: `"a"`, `1.0`, `true`, `null`. */
export type JsonScalar = { readonly kind: 'scalar'; readonly text: string };
export type JsonEntry = readonly [key: string, value: JsonNode];

/** Everything that walks a tree recurses; text nested deeper than this is refused where it comes in. */
export const MAX_NESTING = 100;

export function readJson(text: string): JsonNode | 'not-json' | 'too-deep' {
  try {
    JSON.parse(text); // the judge of what is valid: the scanner below trusts its input
  } catch {
    return 'not-json';
  }
  return nestingOf(text) > MAX_NESTING ? 'too-deep' : new Scanner(text).read();
}

/** Without blanks between the tokens. */
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

/** Just behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
