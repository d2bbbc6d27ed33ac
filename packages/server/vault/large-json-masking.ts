/**
 * Masks large JSON texts without blocking the event loop. The items of large lists and objects are masked in groups
 * that fit into a piece. Larger items are entered and handled in the same way. Text that is not hidden stays as it was
 * written.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonNestingError, PIECE, parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { itemsEnd, scalarEnd, skipSpace, stringEnd, valueEnd } from '@svc/spec/json-spans.ts';
import { MASKED, MAY_HOLD_JSON, isEmptyText } from './json-masking.ts';
import type { JsonMasking } from './json-masking.ts';
import { nestingOf } from '@svc/spec/json-shape.ts';
import { MAX_NESTING, readJson, writeJson } from './json-text.ts';
import { MASK } from './mask.ts';

/** Needs valid JSON. A text with too deep nesting is hidden as a whole. */
export async function maskLargeJson(json: string, masking: JsonMasking, piece = PIECE): Promise<string> {
  if (nestingOf(json) > MAX_NESTING) return MASKED;
  return (await new Walk(json, masking, piece).masked()) ?? MASKED;
}

class Walk {
  readonly #text: string;
  readonly #masking: JsonMasking;
  readonly #piece: number;
  #at = 0;
  /** The masked text up to `#copied`. */
  readonly #out: string[] = [];
  #copied = 0;
  /** The closing brackets of the open lists and objects, outermost first. */
  readonly #around: (']' | '}')[] = [];

  constructor(text: string, masking: JsonMasking, piece: number) {
    this.#text = text;
    this.#masking = masking;
    this.#piece = piece;
  }

  /** Returns undefined if the text was not valid JSON. */
  async masked(): Promise<string | undefined> {
    await this.#item();
    for (let close = this.#around.at(-1); close !== undefined; close = this.#around.at(-1)) {
      this.#skipSpace();
      const before = this.#at;
      const mark = this.#text[this.#at];
      if (mark === ',' || mark === close) {
        this.#at += 1;
        if (mark === close) this.#around.pop();
        continue;
      }
      const end = itemsEnd(this.#text, this.#at, this.#piece);
      if (end !== undefined) this.#items(end, close);
      else if (close === ']' || this.#key()) await this.#item();
      if (this.#at <= before) return undefined;
      await nextTurn();
    }
    return this.#out.join('') + this.#text.slice(this.#copied);
  }

  /** Masks several items or entries that fit into one piece together. */
  #items(end: number, close: ']' | '}'): void {
    const open = close === ']' ? '[' : '{';
    const node = readJson(open + this.#text.slice(this.#at, end) + close);
    if (typeof node === 'string') return; // the text is invalid, so the walk stops here
    const shown = this.#masking.node(node);
    this.#put(end, shown === node ? undefined : writeJson(shown).slice(1, -1));
  }

  /** Enters an item that is larger than a piece. */
  async #item(): Promise<void> {
    this.#skipSpace();
    const first = this.#text[this.#at];
    if (first === '[' || first === '{') {
      this.#around.push(first === '[' ? ']' : '}');
      this.#at += 1;
    } else if (first === '"') {
      const end = stringEnd(this.#text, this.#at);
      this.#put(end, await this.#string(this.#text.slice(this.#at, end)));
    } else {
      const end = scalarEnd(this.#text, this.#at);
      this.#put(end, writeJson(this.#masking.node({ kind: 'scalar', text: this.#text.slice(this.#at, end) })));
    }
  }

  /**
   * Masks the key of an entry that is larger than a piece. Returns false if the whole value is hidden, so that nothing
   * of it is left to walk.
   */
  #key(): boolean {
    const end = stringEnd(this.#text, this.#at);
    const key = JSON.parse(this.#text.slice(this.#at, end)) as string;
    const { shown, isSensitive } = this.#masking.name(key);
    this.#put(end, shown === key ? undefined : JSON.stringify(shown));
    this.#skipSpace();
    this.#at += 1;
    this.#skipSpace();
    if (!isSensitive) return true;
    const valueTo = valueEnd(this.#text, this.#at);
    this.#put(valueTo, isEmptyText(this.#text.slice(this.#at, valueTo)) ? undefined : MASKED);
    return false;
  }

  async #string(json: string): Promise<string> {
    const text = JSON.parse(json) as string;
    const shown = MAY_HOLD_JSON.test(json) ? await this.#inside(text) : await this.#masking.hideInTurns(text);
    return shown === text ? json : JSON.stringify(shown);
  }

  /** Masks JSON inside a text, because the names inside count as well. */
  async #inside(text: string): Promise<string> {
    try {
      await parseJsonInTurns(text);
    } catch (error) {
      return error instanceof JsonNestingError ? MASK : this.#masking.hideInTurns(text);
    }
    if (nestingOf(text) > MAX_NESTING) return MASK;
    return (await new Walk(text, this.#masking, this.#piece).masked()) ?? MASK;
  }

  /** Adds the text up to `end` to the output: `shown`, or the original if undefined. */
  #put(end: number, shown: string | undefined): void {
    if (shown !== undefined) {
      this.#out.push(this.#text.slice(this.#copied, this.#at), shown);
      this.#copied = end;
    }
    this.#at = end;
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#text, this.#at);
  }
}
