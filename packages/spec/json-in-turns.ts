/**
 * Parses large JSON texts like JSON.parse, without blocking the event loop. It reads piece by piece, and other work
 * runs between the pieces. JSON.parse would block for about a second with a text of 16 MiB.
 *
 * A value that ends within a piece is read by JSON.parse. The items of a larger list or object are read one by one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { scalarEnd, skipSpace, stringEnd } from './json-spans.ts';

/** Number of characters that are read in one turn. */
export const PIECE = 64 * 1024;
/** Nesting limit for lists and objects larger than a piece, because their content is scanned again at each level. */
const MAX_NESTING = 200;

export class JsonNestingError extends Error {
  constructor() {
    super(`large JSON must not be nested deeper than ${MAX_NESTING} levels`);
  }
}

export type InTurns = {
  piece?: number;
  /** Parses a piece like JSON.parse. It may convert numbers. */
  parse?: (text: string) => unknown;
};

export async function parseJsonInTurns(text: string, options: InTurns = {}): Promise<unknown> {
  const { piece = PIECE, parse = JSON.parse } = options;
  if (text.length <= piece) return parse(text);
  return new Reader(text, piece, parse).read();
}

type List = unknown[];
type Fields = Record<string, unknown>;

class Reader {
  readonly #text: string;
  readonly #piece: number;
  readonly #parse: (text: string) => unknown;
  #at = 0;
  /** Number of characters scanned since the last turn of other work. */
  #spent = 0;
  /** The open lists and objects around the current position, outermost first. */
  readonly #around: (List | Fields)[] = [];

  constructor(text: string, piece: number, parse: (text: string) => unknown) {
    this.#text = text;
    this.#piece = piece;
    this.#parse = parse;
  }

  async read(): Promise<unknown> {
    let value = this.#readValue();
    for (;;) {
      if (this.#spent >= this.#piece) {
        this.#spent = 0;
        await nextTurn();
      }
      const into = this.#around.at(-1);
      if (into === undefined) break;
      // A list or object that has just been opened is put into its parent when it is complete.
      if (value !== OPENED) this.#put(into, value);
      value = this.#readNext(into, value === OPENED);
    }
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault();
    return value;
  }

  #key = '';

  #put(into: List | Fields, value: unknown): void {
    if (Array.isArray(into)) into.push(value);
    else Object.defineProperty(into, this.#key, { value, writable: true, enumerable: true, configurable: true });
  }

  /** Returns the next item of the open list or object, or the whole of it at its end. */
  #readNext(into: List | Fields, isFirst: boolean): unknown {
    const isList = Array.isArray(into);
    this.#skipSpace();
    const mark = this.#text[this.#at];
    if (mark === (isList ? ']' : '}')) {
      this.#at += 1;
      this.#around.pop();
      this.#key = this.#keys.pop() ?? '';
      return into;
    }
    if (!isFirst) {
      if (mark !== ',') throw this.#fault();
      this.#at += 1;
      this.#skipSpace();
    }
    if (!isList) this.#readKey();
    return this.#readValue();
  }

  /** The keys under which the open lists and objects are stored in their parents. */
  readonly #keys: string[] = [];

  #readKey(): void {
    if (this.#text[this.#at] !== '"') throw this.#fault();
    const end = stringEnd(this.#text, this.#at);
    this.#key = JSON.parse(this.#take(end)) as string;
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') throw this.#fault();
    this.#at += 1;
  }

  #readValue(): unknown {
    this.#skipSpace();
    const first = this.#text[this.#at];
    if (first === '"') return this.#parse(this.#take(stringEnd(this.#text, this.#at)));
    if (first !== '[' && first !== '{') return this.#parse(this.#take(scalarEnd(this.#text, this.#at)));
    const end = containerEnd(this.#text, this.#at, this.#piece);
    if (end !== undefined) return this.#parse(this.#take(end));
    this.#spent += this.#piece; // the scan found no end within a piece
    this.#at += 1;
    if (this.#around.length === MAX_NESTING) throw new JsonNestingError();
    this.#keys.push(this.#key);
    this.#around.push(first === '[' ? [] : {});
    return OPENED;
  }

  #take(end: number): string {
    const taken = this.#text.slice(this.#at, end);
    this.#spent += end - this.#at;
    this.#at = end;
    return taken;
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#text, this.#at);
  }

  #fault(): SyntaxError {
    return new SyntaxError(`Unexpected ${JSON.stringify(this.#text[this.#at] ?? 'end')} in JSON at ${this.#at}`);
  }
}

const OPENED = Symbol('opened');
/** Returns undefined if the end is not within this many characters. */
function containerEnd(text: string, start: number, within: number): number | undefined {
  const limit = Math.min(text.length, start + within);
  let depth = 0;
  for (let at = start; at < limit;) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = stringEnd(text, at);
        continue;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      default:
    }
    at += 1;
  }
  return undefined;
}
