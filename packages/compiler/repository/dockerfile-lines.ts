/** The instructions of a Dockerfile, each in one piece with the number of its first line. */

export type Instruction = { readonly word: string; readonly rest: string; readonly line: number };

/** Logical lines; a here-document belongs to its RUN. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text.split(/\r?\n/);
  const found: Instruction[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = index + 1;
    let whole = lines[index] ?? '';
    if (/^\s*(#|$)/.test(whole)) continue;
    // Line by line, because the end of a long instruction would be looked at once for each of its lines.
    const continued: string[] = [];
    let last = whole.trimEnd();
    while (last.endsWith('\\') && index + 1 < lines.length) {
      index += 1;
      const next = (lines[index] ?? '').trim();
      if (next.startsWith('#')) continue;
      continued.push(last.slice(0, -1));
      last = next;
    }
    if (continued.length > 0) whole = [...continued, last].join(' ');
    const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/s.exec(whole) ?? [];
    const end = word.toUpperCase() === 'RUN' ? /<<-?\s*["']?(\w+)["']?/.exec(rest)?.[1] : undefined;
    const close = end === undefined ? index : lines.findIndex((text, at) => at > index && text.trim() === end);
    const body = lines.slice(index + 1, close === -1 ? lines.length : close);
    index = close === -1 ? lines.length : close;
    if (word !== '')
      found.push({ word: word.toUpperCase(), rest: end === undefined ? rest.trim() : body.join('\n'), line });
  }
  return found;
}

/** `--from=x --chown=y rest`: the options by name, and the rest. */
export function withOptions(rest: string): { options: ReadonlyMap<string, string>; rest: string } {
  const options = new Map<string, string>();
  let left = rest;
  for (;;) {
    const [whole, name = '', value = ''] = /^--([\w-]+)(?:=(\S*))?\s+/.exec(left) ?? [];
    if (whole === undefined) return { options, rest: left };
    options.set(name, value);
    left = left.slice(whole.length);
  }
}

/** The words of an instruction in JSON form; undefined for every other form. */
export function jsonWords(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined;
  try {
    const words = JSON.parse(rest) as unknown;
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : undefined;
  } catch {
    return undefined; // a shell line that begins with a bracket
  }
}

const SHOWN = 80;
export const shortened = (text: string): string =>
  (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text).replaceAll('\n', ' ');
