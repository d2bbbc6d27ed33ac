/**
 * The commands of a shell line, each as its words: quotes are taken off, variables are replaced, and what joins commands
 * (`&&`, `||`, `;`, `|`, new lines, parentheses) separates them. Nothing is executed. What a command substitution would print is
 * unknown, so `$(…)` stays as it is.
 *
 * The text is read once, character by character, because authors of hostile files choose its length.
 */

/** Gives the value of a variable; undefined leaves it as it was written. */
export type Lookup = (name: string) => string | undefined;

const BACKSLASH = '\\';
const JOINS = new Set([';', '|', '&', '\n', '(', ')']);

/** `pipes`: its output goes into the next command. */
export type ShellCommand = { readonly words: string[]; readonly pipes: boolean };

/** A generator, so that a command may set a variable that the next one uses. */
export function* shellCommands(text: string, lookup: Lookup): Generator<ShellCommand, void> {
  let words: string[] = [];
  let word: string | undefined;
  const add = (part: string): void => void (word = (word ?? '') + part);
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };

  let at = 0;
  while (at < text.length) {
    const letter = text[at] ?? '';
    if (letter === BACKSLASH) {
      const next = text[at + 1] ?? '';
      if (next !== '\n') add(next);
      at += 2;
    } else if (letter === "'") {
      const close = text.indexOf("'", at + 1);
      const end = close === -1 ? text.length : close;
      add(text.slice(at + 1, end));
      at = end + 1;
    } else if (letter === '"') {
      at = quoted(text, at + 1, lookup, add);
    } else if (letter === '$') {
      const { value, end } = variableAt(text, at, lookup);
      // Without quotes a shell makes several words of a value with spaces.
      const parts = value.split(/\s+/);
      for (const [index, part] of parts.entries()) {
        if (index > 0) endWord();
        if (part !== '') add(part);
      }
      at = end;
    } else if (letter === '#' && word === undefined) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    } else if (JOINS.has(letter) && !(letter === '&' && text[at - 1] === '>')) {
      endWord();
      const pipes = letter === '|' && text[at + 1] !== '|' && text[at - 1] !== '|';
      if (words.length > 0) yield { words, pipes };
      words = [];
      at += 1;
    } else if (letter === ' ' || letter === '\t' || letter === '\r') {
      endWord();
      at += 1;
    } else {
      add(letter);
      at += 1;
    }
  }
  endWord();
  if (words.length > 0) yield { words, pipes: false };
}

/** All words of a text that is one command. */
export const shellWords = (text: string, lookup: Lookup): string[] =>
  [...shellCommands(text, lookup)].flatMap(({ words }) => words);

/** Replaces the variables of a text in which quotes have no meaning. */
export function withVariables(text: string, lookup: Lookup): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('$', at);
    if (next === -1) break;
    parts.push(text.slice(at, next));
    const { value, end } = variableAt(text, next, lookup);
    parts.push(value);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** Returns where the text goes on behind the closing quote. */
function quoted(text: string, start: number, lookup: Lookup, add: (part: string) => void): number {
  add('');
  let at = start;
  while (at < text.length && text[at] !== '"') {
    const letter = text[at] ?? '';
    if (letter === BACKSLASH && '"\\$`\n'.includes(text[at + 1] ?? ' ')) {
      if (text[at + 1] !== '\n') add(text[at + 1] ?? '');
      at += 2;
    } else if (letter === '$') {
      const { value, end } = variableAt(text, at, lookup);
      add(value);
      at = end;
    } else {
      add(letter);
      at += 1;
    }
  }
  return at + 1;
}

const PLAIN = /[A-Za-z_]\w*/y;
/** `${NAME}`, `${NAME:-otherwise}`, `${NAME-otherwise}`, `${NAME:+instead}`. */
const BRACED = /\{([A-Za-z_]\w*)(?::?([-+])([^}]{0,1000}))?\}/y;

function variableAt(text: string, at: number, lookup: Lookup): { value: string; end: number } {
  if (text[at + 1] === '(') {
    const end = endOfSubstitution(text, at + 1);
    return { value: text.slice(at, end).replace(/\s+/g, ' '), end };
  }
  BRACED.lastIndex = at + 1;
  const braced = BRACED.exec(text);
  if (braced) {
    const [whole, name = '', sign, other = ''] = braced;
    const end = at + 1 + whole.length;
    const value = lookup(name);
    if (sign === '+') return { value: value ? other : '', end };
    if (sign === '-') return { value: value || withVariables(other, lookup), end };
    return { value: value ?? `$${whole}`, end };
  }
  PLAIN.lastIndex = at + 1;
  const name = PLAIN.exec(text)?.[0];
  if (name === undefined) return { value: '$', end: at + 1 };
  return { value: lookup(name) ?? `$${name}`, end: at + 1 + name.length };
}

function endOfSubstitution(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && (depth -= 1) === 0) return at + 1;
  }
  return text.length;
}
