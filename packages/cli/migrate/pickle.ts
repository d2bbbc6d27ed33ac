/**
 * Reads the pickled `conf` of a run in Airflow 2, without Python. It accepts plain data: None, booleans, numbers,
 * texts, lists, tuples and dicts. Everything that would create an object, and so run code, is refused.
 */

/** The pickle contains more than plain data. */
export class PickleError extends Error {}

const MARK = Symbol('mark');
type Item = unknown;

class Reader {
  readonly #bytes: Buffer;
  at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  take(length: number): Buffer {
    if (length < 0 || this.at + length > this.#bytes.length) throw new PickleError('it ends too early');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
  byte = (): number => this.take(1).readUInt8();
  uint32 = (): number => this.take(4).readUInt32LE();
  uint64 = (): number => Number(this.take(8).readBigUInt64LE());
  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.at);
    if (end < 0) throw new PickleError('it ends too early');
    const text = this.take(end - this.at).toString('latin1');
    this.at += 1;
    return text;
  }
}

/** Returns the value as JSON text. Numbers keep their digits. */
export function unpickleToJson(bytes: Uint8Array): string {
  return JSON.stringify(toJson(unpickle(bytes), 0));
}

export function unpickle(bytes: Uint8Array): unknown {
  const input = new Reader(bytes);
  const stack: Item[] = [];
  const memo = new Map<number, Item>();
  for (;;) {
    const code = String.fromCharCode(input.byte());
    if (code === '.') return stack.pop();
    step({ code, input, stack, memo });
  }
}

type State = { code: string; input: Reader; stack: Item[]; memo: Map<number, Item> };

function step(state: State): void {
  const { code, input, stack, memo } = state;
  const simple = VALUES[code];
  if (simple) {
    stack.push(simple(input));
    return;
  }
  switch (code) {
    case '\x80': // the protocol version
      input.byte();
      return;
    case '\x95': // a frame, which only has a length
      input.take(8);
      return;
    case '(':
      stack.push(MARK);
      return;
    case 'q':
      memo.set(input.byte(), stack.at(-1));
      return;
    case 'r':
      memo.set(input.uint32(), stack.at(-1));
      return;
    case 'p':
      memo.set(Number(input.line()), stack.at(-1));
      return;
    case '\x94':
      memo.set(memo.size, stack.at(-1));
      return;
    case 'h':
      stack.push(remembered(memo, input.byte()));
      return;
    case 'j':
      stack.push(remembered(memo, input.uint32()));
      return;
    case 'g':
      stack.push(remembered(memo, Number(input.line())));
      return;
    default:
      collect(state);
  }
}

/** Handles opcodes that build a value from items on the stack. */
function collect({ code, stack }: State): void {
  switch (code) {
    case 'l':
    case 't':
      stack.push(sinceMark(stack));
      return;
    case 'd':
      stack.push(addPairs(new Map(), sinceMark(stack)));
      return;
    case '\x85':
    case '\x86':
    case '\x87':
      stack.push(stack.splice(-(code.charCodeAt(0) - 0x84)));
      return;
    case 'a': {
      const item = stack.pop();
      listAt(stack).push(item);
      return;
    }
    case 'e': {
      const items = sinceMark(stack);
      listAt(stack).push(...items);
      return;
    }
    case 's': {
      const pair = stack.splice(-2);
      addPairs(mapAt(stack), pair);
      return;
    }
    case 'u': {
      const items = sinceMark(stack);
      addPairs(mapAt(stack), items);
      return;
    }
    default:
      throw new PickleError('it holds objects of Python, not only data');
  }
}

const VALUES: Record<string, ((input: Reader) => Item) | undefined> = {
  N: () => null,
  '\x88': () => true,
  '\x89': () => false,
  K: (input) => input.byte(),
  M: (input) => input.take(2).readUInt16LE(),
  J: (input) => input.take(4).readInt32LE(),
  '\x8a': (input) => longOf(input.take(input.byte())),
  '\x8b': (input) => longOf(input.take(input.uint32())),
  G: (input) => input.take(8).readDoubleBE(),
  X: (input) => input.take(input.uint32()).toString('utf8'),
  '\x8c': (input) => input.take(input.byte()).toString('utf8'),
  '\x8d': (input) => input.take(input.uint64()).toString('utf8'),
  V: (input) =>
    input.line().replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
  I: (input) => intOf(input.line()),
  L: (input) => BigInt(input.line().replace(/L$/, '')),
  F: (input) => Number(input.line()),
  ']': () => [],
  ')': () => [],
  '}': () => new Map(),
};

/** Protocol 0 writes booleans as the numbers 01 and 00. */
const intOf = (text: string): Item => (text === '01' ? true : text === '00' ? false : BigInt(text));

function longOf(bytes: Buffer): bigint {
  if (bytes.length === 0) return 0n;
  const unsigned = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  return BigInt.asIntN(bytes.length * 8, unsigned);
}

function remembered(memo: ReadonlyMap<number, Item>, key: number): Item {
  if (!memo.has(key)) throw new PickleError('it speaks of what is not there');
  return memo.get(key);
}

function sinceMark(stack: Item[]): Item[] {
  const mark = stack.lastIndexOf(MARK);
  if (mark < 0) throw new PickleError('it is not well formed');
  const items = stack.splice(mark);
  return items.slice(1);
}

function listAt(stack: readonly Item[]): Item[] {
  const list = stack.at(-1);
  if (!Array.isArray(list)) throw new PickleError('it is not well formed');
  return list as Item[];
}

function mapAt(stack: readonly Item[]): Map<Item, Item> {
  const map = stack.at(-1);
  if (!(map instanceof Map)) throw new PickleError('it is not well formed');
  return map as Map<Item, Item>;
}

function addPairs(map: Map<Item, Item>, items: readonly Item[]): Map<Item, Item> {
  for (let index = 0; index + 1 < items.length; index += 2) map.set(items[index], items[index + 1]);
  return map;
}

const MAX_DEPTH = 100;

function toJson(value: Item, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new PickleError('it is nested too deeply');
  if (typeof value === 'bigint') return JSON.rawJSON(String(value));
  if (typeof value === 'number' && !Number.isFinite(value)) throw new PickleError('it has a number that JSON has not');
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth + 1));
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, item]) => [nameOf(key), toJson(item, depth + 1)]));
}

/** Converts the key of a dict as Python's json does. */
function nameOf(key: Item): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (['number', 'bigint', 'boolean'].includes(typeof key)) return String(key);
  throw new PickleError('a name in it is no text');
}
