/**
 * Reads YAML within the limits of its kind, in linear time. Keys are compared by a set, and an alias takes the last
 * value of its anchor. The library's own conversion takes quadratic time for both.
 */
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Node, Pair, YAMLParseError } from 'yaml';
import { FILE_LIMITS, FileLimitError } from './limits.ts';
import type { FileKind, FileLimits } from './limits.ts';
import { checkYamlBounds } from './yaml-bounds.ts';
import { explainYamlError } from './yaml-errors.ts';

export type YamlPlace = { line: number; column: number };
export type YamlProblem = YamlPlace & { message: string; instead: string };

/** The place of a value in the text. For an entry of a map, it is the place of the key. */
export type PlaceTree = YamlPlace & { children?: Map<string, PlaceTree> };

export type ReadYaml =
  | { ok: true; value: unknown; places: PlaceTree }
  | { ok: false; problems: readonly YamlProblem[] };

export type YamlOptions = {
  kind: FileKind;
  /** The name of the file in messages. */
  file: string;
  /** Converts a number; `source` is its text. It may throw a YamlValueError. */
  number?: (value: number | bigint, source: string, path: readonly string[]) => unknown;
  intAsBigInt?: boolean;
};

/** A value that the caller refuses. */
export class YamlValueError extends Error {}

const MAX_PROBLEMS = 20;
const MAX_SYNTAX_PROBLEMS = 3;

export function readYaml(text: string, options: YamlOptions): ReadYaml {
  const { kind, file, intAsBigInt = false } = options;
  try {
    checkYamlBounds(text, kind, file);
  } catch (error) {
    if (!(error instanceof FileLimitError)) throw error;
    return failed([{ message: error.message, instead: error.instead, line: error.line ?? 1, column: 1 }]);
  }
  const lines = new LineCounter();
  const place = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    // The Converter below compares keys.
    uniqueKeys: false,
    version: '1.2',
    prettyErrors: false,
    intAsBigInt,
  });
  if (document.errors.length > 0) {
    return failed(firstOfLines(document.errors.map((error) => ({ error, ...place(error.pos[0]) }))));
  }
  const converter = new Converter(options, place);
  const value = converter.valueOf(document.contents, []);
  if (converter.problems.length > 0) return failed(converter.problems.slice(0, MAX_PROBLEMS));
  return { ok: true, value: value.value, places: value.places };
}

/** Returns the first faults only. One fault causes others on its line, and often on all lines below it. */
function firstOfLines(found: readonly (YamlPlace & { error: YAMLParseError })[]): YamlProblem[] {
  const byLine = new Map(found.toReversed().map((each) => [each.line, each]));
  return [...byLine.values()]
    .sort((a, b) => a.line - b.line)
    .slice(0, MAX_SYNTAX_PROBLEMS)
    .map(({ error, line, column }) => ({ ...explainYamlError(error), line, column }));
}

const failed = (problems: readonly YamlProblem[]): ReadYaml => ({ ok: false, problems });

/** Returns the place of a path. If the path does not exist, it returns the place of its nearest parent. */
export function placeAt(tree: PlaceTree, path: readonly (string | number)[]): YamlPlace {
  let found = tree;
  for (const part of path) {
    const next = found.children?.get(String(part));
    if (!next) break;
    found = next;
  }
  return { line: found.line, column: found.column };
}

type Converted = {
  value: unknown;
  places: PlaceTree;
  /** Number of values in it; an alias counts as all values that it stands for. */ weight: number;
};

class Converter {
  readonly problems: YamlProblem[] = [];
  readonly #options: YamlOptions;
  readonly #place: (offset: number) => YamlPlace;
  readonly #depth: number;
  readonly #weight: number;
  /** Undefined while the anchor is still open. An alias of it would be a circle. */
  readonly #anchors = new Map<string, Converted | undefined>();

  constructor(options: YamlOptions, place: (offset: number) => YamlPlace) {
    const { depth = Infinity, marks = Infinity, keys = Infinity }: FileLimits = FILE_LIMITS[options.kind];
    this.#options = options;
    this.#place = place;
    this.#depth = depth;
    this.#weight = marks + keys;
  }

  valueOf(node: unknown, path: readonly string[]): Converted {
    const offset = (node as Partial<Node> | null)?.range?.[0] ?? 0;
    const places: PlaceTree = this.#place(offset);
    if (this.problems.length >= MAX_PROBLEMS) return leaf(null, places);
    if (isAlias(node)) return this.#aliased(node.source, places);
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    const converted = this.#converted(node, path, places);
    if (anchor !== undefined) this.#anchors.set(anchor, converted);
    return converted;
  }

  #aliased(name: string, places: PlaceTree): Converted {
    const found = this.#anchors.get(name);
    if (found) return { ...found, places };
    const isOpen = this.#anchors.has(name);
    this.#refuse(
      places,
      isOpen ? `*${name} stands inside of what &${name} names` : `*${name} refers to an anchor that is not above it`,
      isOpen ? 'Write the value itself' : `Write &${name} before the value that it stands for`,
    );
    return leaf(null, places);
  }

  #converted(node: unknown, path: readonly string[], places: PlaceTree): Converted {
    if (path.length > this.#depth) {
      this.#refuse(
        places,
        `is nested too deeply: lists and maps may be nested ${this.#depth} levels deep`,
        'Nest less',
      );
      return leaf(null, places);
    }
    if (isMap(node)) return this.#map(node.items, path, places);
    if (isSeq(node)) {
      const items = node.items.map((item, index) => this.valueOf(item, [...path, String(index)]));
      const children = new Map(items.map((item, index) => [String(index), item.places]));
      return this.#whole(
        items.map((item) => item.value),
        items,
        { ...places, children },
      );
    }
    return leaf(this.#scalar(node, path, places), places);
  }

  #map(pairs: readonly Pair[], path: readonly string[], places: PlaceTree): Converted {
    const value: Record<string, unknown> = {};
    const children = new Map<string, PlaceTree>();
    const converted: Converted[] = [];
    for (const { key, value: written } of pairs) {
      const name = this.#nameOf(key, places);
      if (name === undefined) continue;
      const keyPlace = this.#place((key as Partial<Node>).range?.[0] ?? 0);
      const before = children.get(name);
      if (before !== undefined) {
        const message = `the key ${quoted(name)} is written twice: the first is on line ${before.line}`;
        this.#refuse(keyPlace, message, 'Keep one of them');
        continue;
      }
      const inner = this.valueOf(written, [...path, name]);
      children.set(name, { ...inner.places, ...keyPlace });
      converted.push(inner);
      // The property is defined instead of assigned, because `__proto__` is a name like any other.
      Object.defineProperty(value, name, { value: inner.value, writable: true, enumerable: true, configurable: true });
    }
    return this.#whole(value, converted, { ...places, children });
  }

  #nameOf(key: unknown, around: YamlPlace): string | undefined {
    if (isScalar(key)) {
      const { anchor, value, source } = key;
      if (anchor !== undefined) this.#anchors.set(anchor, leaf(value, around));
      return typeof value === 'string' ? value : value === null ? '' : (source ?? String(value));
    }
    const place = this.#place((key as Partial<Node> | null)?.range?.[0] ?? 0);
    this.#refuse(place, 'a key must be a plain name, not a list, a map or an alias', 'Write the name itself');
    return undefined;
  }

  #scalar(node: unknown, path: readonly string[], places: YamlPlace): unknown {
    if (!isScalar(node)) return null;
    const { value, source } = node;
    const { number } = this.#options;
    if ((typeof value !== 'number' && typeof value !== 'bigint') || !number) return value;
    try {
      return number(value, source ?? String(value), path);
    } catch (error) {
      if (!(error instanceof YamlValueError)) throw error;
      this.#refuse(places, error.message, '');
      return null;
    }
  }

  /**
   * Refuses a value whose aliases expand to too many values. Aliases of aliases multiply, so a small text may stand for
   * a huge value.
   */
  #whole(value: unknown, parts: readonly Converted[], places: PlaceTree): Converted {
    const weight = parts.reduce((sum, part) => sum + part.weight, 1);
    if (weight > this.#weight && this.problems.length === 0) {
      const limit = this.#weight.toLocaleString('en');
      this.#refuse(places, `its aliases stand for more than ${limit} values, which is the limit`, 'Use fewer aliases');
    }
    return { value, places, weight };
  }

  #refuse({ line, column }: YamlPlace, message: string, instead: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ message, instead, line, column });
  }
}

const leaf = (value: unknown, places: PlaceTree): Converted => ({ value, places, weight: 1 });

const SHOWN = 60;
const quoted = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
