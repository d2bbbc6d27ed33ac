/**
 * Finds the error at the end of a log: the exception, its place in the author's code, and the first exception of a
 * chain. It reads Python's tracebacks in lines that are already sanitised. It is pure.
 */

/** One exception of a chain. */
export type Raised = {
  type: string;
  message: string;
  /** The innermost frame outside of libraries and the runtime: the name of its file, without folders. */
  file: string | null;
  line: number | null;
  function: string | null;
  /** The source line of that frame. */
  code: string | null;
};

export type LogError = Raised & {
  /** The first exception of the chain, if another one was raised because of it or while it was handled. */
  root_cause: Raised | null;
};

/** The prefix `[2026-11-15T06:31:12.123456Z] ERROR - `, which lines of a program have when a task logs its output. */
const RECORD = /^\[[^\]]{1,40}\] [A-Z]{1,10} - /;
const BEGIN = /^Traceback \(most recent call last\):$/;
const FRAME = /^\s+File "(?<path>[^"]{1,1000})", line (?<line>\d+)(?:, in (?<name>.{1,200}))?$/;
const CARETS = /^\s+[~^]+\s*$/;
const RAISED = /^(?<type>[A-Za-z_][\w.]{0,200})(?:: (?<message>.*))?$/;
const LINKS = new Set([
  'The above exception was the direct cause of the following exception:',
  'During handling of the above exception, another exception occurred:',
]);
/** Frames of the task runtime. An author's own folder may also be called `airflow`, so only these parts of it match. */
const RUNTIME = /(?:^|[\\/])(?:svc_runtime|airflow[\\/]providers[\\/]standard)[\\/]/;
const LIBRARY = /[\\/](?:site-packages|dist-packages|lib[\\/]python\d[\d.]*)[\\/]|^<frozen /;

const MAX_MESSAGE_LINES = 20;
const MAX_MESSAGE_LENGTH = 600;

const NOWHERE = { file: null, line: null, function: null, code: null };

const bare = (line: string): string => line.replace(RECORD, '');

/** Returns the last error in these lines, or null. A program may end without a traceback. */
export function errorIn(lines: readonly string[]): LogError | null {
  const chain = lastChain(lines);
  const last = chain.at(-1);
  if (!last) return null;
  const [first] = chain;
  return { ...last, root_cause: chain.length > 1 && first ? first : null };
}

function lastChain(lines: readonly string[]): Raised[] {
  let chain: Raised[] = [];
  let isLinked = false;
  for (let index = 0; index < lines.length; index += 1) {
    const line = bare(lines[index] ?? '');
    if (LINKS.has(line)) isLinked = true;
    if (!BEGIN.test(line)) continue;
    const { raised, end } = readTraceback(lines, index + 1);
    if (raised) chain = isLinked ? [...chain, raised] : [raised];
    isLinked = false;
    index = end - 1;
  }
  return chain;
}

function readTraceback(lines: readonly string[], from: number): { raised: Raised | null; end: number } {
  let place: Pick<Raised, 'file' | 'line' | 'function' | 'code'> = NOWHERE;
  let index = from;
  for (; index < lines.length; index += 1) {
    const line = bare(lines[index] ?? '');
    if (!/^\s/.test(line)) break;
    const { path, line: number, name } = FRAME.exec(line)?.groups ?? {};
    if (path === undefined || RUNTIME.test(path) || LIBRARY.test(path)) continue;
    const next = bare(lines[index + 1] ?? '');
    const code = /^\s/.test(next) && !FRAME.test(next) ? next.trim() : null;
    place = { file: path.split(/[\\/]/).at(-1) ?? null, line: Number(number), function: name ?? null, code };
  }
  const { type, message = '' } = RAISED.exec(bare(lines[index] ?? ''))?.groups ?? {};
  if (type === undefined) return { raised: null, end: index };
  const more = restOfMessage(lines, index + 1);
  const text = [message, ...more].join('\n').trimEnd();
  const raised = {
    type,
    message: text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text,
    ...place,
  };
  return { raised, end: index + 1 + more.length };
}

/** Returns the further lines of a message. The next record or the next exception of the chain ends it. */
function restOfMessage(lines: readonly string[], from: number): string[] {
  const rest: string[] = [];
  for (const line of lines.slice(from, from + MAX_MESSAGE_LINES)) {
    if (RECORD.test(line) || BEGIN.test(line) || LINKS.has(line)) break;
    rest.push(line);
  }
  while (rest.at(-1) === '') rest.pop();
  return rest;
}

/**
 * Returns the lines with shorter tracebacks: without frames of the runtime, without the marks under source lines, and
 * with only the last of consecutive library frames.
 */
export function condense(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let libraries = 0; // number of lines of the last kept library frame, while it is still open
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const path = FRAME.exec(bare(line))?.groups?.['path'];
    if (path === undefined) {
      if (CARETS.test(bare(line))) continue;
      libraries = 0;
      kept.push(line);
      continue;
    }
    const body = frameBody(lines, index + 1);
    index += body.length;
    if (RUNTIME.test(path)) continue;
    const frame = [line, ...body.filter((text) => !CARETS.test(bare(text)))];
    if (LIBRARY.test(path)) {
      if (libraries > 0) kept.splice(-libraries);
      libraries = frame.length;
    } else libraries = 0;
    kept.push(...frame);
  }
  return kept;
}

/** Returns the lines of a frame: its source line and the marks under it. */
function frameBody(lines: readonly string[], from: number): string[] {
  let end = from;
  for (; end < lines.length; end += 1) {
    const text = bare(lines[end] ?? '');
    if (!/^\s{4}/.test(text) || FRAME.test(text)) break;
  }
  return lines.slice(from, end);
}

const COMPLAINS = /^\[[^\]]{1,40}\] (?:ERROR|CRITICAL|FATAL) - |\b(?:error|fatal|exception|failed|denied)\b/i;

/** Returns the last error lines among lines that are not shown, because a long clean-up must not hide the error. */
export function complaintsIn(lines: readonly string[], max: number): string[] {
  return lines.filter((line) => COMPLAINS.test(line)).slice(-max);
}
