/**
 * The same for JSON texts that would hold up everybody: a MiB of small values takes 100 ms to take apart and put together again.
 * The items of large lists and objects are masked as many at a time as fit into a piece; larger ones are looked into. What is not
 * hidden stays as it was written.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { JsonNestingError, PIECE, parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { itemsEnd, scalarEnd, skipSpace, stringEnd, valueEnd } from '@svc/spec/json-spans.ts';
import { MASKED, MAY_HOLD_JSON, isEmptyText } from './json-masking.ts';
import type { JsonMasking } from './json-masking.ts';
import { nestingOf } from '@svc/spec/json-shape.ts';
import { MAX_NESTING, readJson, writeJson } from './json-text.ts';
import { MASK } from './mask.ts';

/** Of valid JSON. What is nested too deeply to be looked into is hidden as a whole. */
export async function maskLargeJson(json: string, masking: JsonMasking, piece = PIECE): Promise<string> {
  if (nestingOf(json) > MAX_NESTING) return MASKED;
  return (await new Walk(json, masking, piece).masked()) ?? MASKED;
}

class Walk {
  readonly #text: string;
  readonly #masking: JsonMasking;
  readonly #piece: number;
  #at = 0;
  /** What the text becomes, up to `#copied`. */
  readonly #out: string[] = [];
  #copied = 0;
  /** What closes the lists and objects around, from the outermost. */
  readonly #around: (']' | '}')[] = [];

  constructor(text: string, masking: JsonMasking, piece: number) {
    this.#text = text;
    this.#masking = masking;
    this.#piece = piece;
  }

  /** Undefined when it was no JSON after all. */
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

  /** Some items or entries, which together are no more than a piece. */
  #items(end: number, close: ']' | '}'): void {
    const open = close === ']' ? '[' : '{';
    const node = readJson(open + this.#text.slice(this.#at, end) + close);
    if (typeof node === 'string') return; // and so there is no way on
    const shown = this.#masking.node(node);
    this.#put(end, shown === node ? undefined : writeJson(shown).slice(1, -1));
  }

  /** One that is larger: what is inside is looked at next. */
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

  /** The key of an entry that is larger than a piece. False when the entry is dealt with, because nobody may see what it holds. */
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

  /** JSON that somebody put into a text: names inside count as well. */
  async #inside(text: string): Promise<string> {
    try {
      await parseJsonInTurns(text);
    } catch (error) {
      return error instanceof JsonNestingError ? MASK : this.#masking.hideInTurns(text);
    }
    if (nestingOf(text) > MAX_NESTING) return MASK;
    return (await new Walk(text, this.#masking, this.#piece).masked()) ?? MASK;
  }

  /** What the text up to there becomes; undefined: it stays. */
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
