/**
 * Checks a YAML text against the limits of its kind by its tokens alone. The lexer of the library reads a text once and
 * stores nothing, so the work ends with the first token above a limit. Every later stage may take quadratic time: keys
 * are compared with each other, and each alias searches its anchor from the start.
 */
import { CST, Lexer } from 'yaml';
import { FILE_LIMITS, tooDeep, tooLarge, tooMany } from './limits.ts';
import type { FileKind, FileLimits } from './limits.ts';

const NO_BOUND: Required<Pick<FileLimits, 'depth' | 'keys' | 'aliases' | 'marks'>> = {
  depth: Infinity,
  keys: Infinity,
  aliases: Infinity,
  marks: Infinity,
};

const MARKS = 'lines, list items and other marks';

/** Throws a FileLimitError if a limit is exceeded. */
export function checkYamlBounds(text: string, kind: FileKind, file: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > FILE_LIMITS[kind].bytes) throw tooLarge(kind, file, bytes);
  const limits = { ...NO_BOUND, ...FILE_LIMITS[kind] };
  const count = { keys: 0, aliases: 0, marks: 0 };
  const nesting = new Nesting();
  let line = 1;
  let column = 0;

  const add = (what: keyof typeof count, name: string): void => {
    count[what] += 1;
    if (count[what] > limits[what]) throw tooMany(kind, file, { what: name, limit: limits[what], line });
  };

  let isScalar = false;
  let previous: string | null = null;
  for (const source of new Lexer().lex(text)) {
    const type: string | null = isScalar ? 'scalar-source' : CST.tokenType(source);
    isScalar = type === 'scalar';
    switch (type) {
      case 'newline':
        nesting.startLine();
        add('marks', MARKS);
        break;
      case 'seq-item-ind':
        // A list item may be in the same column as the key of its list.
        nesting.open(column + 0.5);
        add('marks', MARKS);
        break;
      case 'explicit-key-ind':
        nesting.open(column);
        add('marks', MARKS);
        break;
      case 'flow-map-start':
      case 'flow-seq-start':
        nesting.openBracket();
        add('marks', MARKS);
        break;
      case 'flow-map-end':
      case 'flow-seq-end':
        nesting.closeBracket();
        break;
      case 'map-value-ind':
        nesting.hasKey();
        add('keys', 'keys');
        break;
      case 'alias':
      case 'anchor':
        nesting.content(column);
        add('aliases', 'anchors and aliases');
        break;
      case 'tag':
      case 'comma':
      case 'doc-start':
      case 'doc-end':
      case 'directive-line':
        nesting.content(column);
        add('marks', MARKS);
        break;
      case 'comment':
        add('marks', MARKS);
        break;
      case 'single-quoted-scalar':
      case 'double-quoted-scalar':
        nesting.content(column);
        // Never valid, and the parser makes an error of each.
        if (type === previous) add('marks', MARKS);
        break;
      case 'space':
      case 'doc-mode':
      case 'flow-error-end':
      case 'byte-order-mark':
      case 'scalar':
        break;
      default:
        nesting.content(column);
    }
    previous = type;
    if (nesting.depth > limits.depth) throw tooDeep(kind, file, line);
    // These tokens contain no characters of the text.
    if (type === 'doc-mode' || type === 'flow-error-end' || type === 'scalar') continue;
    const lastBreak = source.lastIndexOf('\n');
    if (lastBreak === -1) column += source.length;
    else {
      column = source.length - lastBreak - 1;
      for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) line += 1;
    }
  }
}

/** Tracks how deep lists and maps nest at a token: by columns in block style, by brackets in flow style. */
class Nesting {
  /** Columns of the open lists and maps. */
  readonly #columns: number[] = [];
  #brackets = 0;
  /** The column in which the content of this line or list item starts. */
  #contentAt: number | undefined;

  get depth(): number {
    return this.#columns.length + this.#brackets;
  }

  startLine(): void {
    this.#contentAt = undefined;
  }

  open(column: number): void {
    if (this.#brackets > 0) return;
    while ((this.#columns.at(-1) ?? -1) >= column) this.#columns.pop();
    this.#columns.push(column);
    this.#contentAt = undefined;
  }

  content(column: number): void {
    this.#contentAt ??= column;
  }

  /** Records that a map starts in the column of the content. */
  hasKey(): void {
    if (this.#contentAt === undefined) return;
    const column = this.#contentAt;
    this.open(column);
    this.#contentAt = column;
  }

  openBracket(): void {
    this.#brackets += 1;
  }

  closeBracket(): void {
    this.#brackets = Math.max(0, this.#brackets - 1);
  }
}
