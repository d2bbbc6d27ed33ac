/** Whether a pyproject.toml keeps to its bounds, before it is parsed: a scan that knows strings and comments, and nothing else. */
import { FILE_LIMITS, tooDeep, tooMany } from '@svc/spec/files/limits.ts';

const { depth: MAX_DEPTH, entries: MAX_ENTRIES } = FILE_LIMITS.pyproject;
const BACKSLASH = 0x5c;

/** Throws a FileLimitError. */
export function checkToml(text: string, file: string): void {
  let depth = 0;
  let entries = 0;
  let line = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '\n':
        line += 1;
        break;
      case '#': {
        const end = text.indexOf('\n', at);
        at = (end === -1 ? text.length : end) - 1;
        break;
      }
      case '"':
      case "'": {
        const end = endOfString(text, at);
        for (let next = text.indexOf('\n', at); next !== -1 && next < end; next = text.indexOf('\n', next + 1))
          line += 1;
        at = end - 1;
        break;
      }
      case '[':
      case '{':
        depth += 1;
        if (depth > MAX_DEPTH) throw tooDeep('pyproject', file, line);
        break;
      case ']':
      case '}':
        depth = Math.max(0, depth - 1);
        break;
      case '=':
      case ',':
      case '.':
        entries += 1;
        if (entries > MAX_ENTRIES)
          throw tooMany('pyproject', file, { what: 'keys and items', limit: MAX_ENTRIES, line });
        break;
      default:
    }
  }
}

/** Behind the closing quote; a string that is not closed ends where the parser gives up, at its line or at the end. */
function endOfString(text: string, start: number): number {
  const quote = text[start] ?? '"';
  const isLong = text.startsWith(quote.repeat(3), start);
  const closing = isLong ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at += 1) {
    if (quote === '"' && text.charCodeAt(at) === BACKSLASH) at += 1;
    else if (!isLong && text[at] === '\n') return at;
    else if (text.startsWith(closing, at)) return at + closing.length;
  }
  return text.length;
}
