/**
 * The limits of files that other people wrote, in a workspace or as an argument of a command. One table has all of
 * them, so that every reader applies the same limits. A limit is checked before parsing, because a hostile file attacks
 * the parser.
 */
export type FileLimits = {
  /** The name of the kind in a sentence: `svc.yaml`, `a requirements file`. */
  readonly what: string;
  readonly bytes: number;
  /** Characters of one line. Patterns are matched against lines, and some take time that is quadratic in the length. */
  readonly lineCharacters?: number;
  /** Lines with content: neither blank nor a comment. */
  readonly entries?: number;
  /** Nesting depth of lists and maps. */
  readonly depth?: number;
  readonly keys?: number;
  /** YAML anchors and aliases. */
  readonly aliases?: number;
  /** Everything else in YAML that causes work, such as list items, commas and lines. */
  readonly marks?: number;
  /** What the author can do about a file above a limit. */
  readonly instead: string;
};

const KIB = 1024;
const MIB = 1024 * KIB;

export const FILE_LIMITS = {
  project: {
    what: 'svc.yaml',
    bytes: 64 * KIB,
    depth: 50,
    keys: 2_000,
    aliases: 100,
    marks: 10_000,
    instead: 'Keep settings in svc.yaml, and data in files of their own that the DAG file reads',
  },
  requirements: {
    what: 'a requirements or constraints file',
    bytes: MIB,
    // A package with many wheels and a hash for each has about 16,000 characters.
    lineCharacters: 32 * KIB,
    entries: 5_000,
    instead: 'List fewer packages: those that the DAGs import, and no copy of a whole index',
  },
  systemPackages: {
    what: 'packages.txt',
    bytes: 64 * KIB,
    lineCharacters: 16 * KIB,
    entries: 2_000,
    instead: 'List only the Debian packages that tasks need',
  },
  pyproject: {
    what: 'pyproject.toml',
    bytes: 256 * KIB,
    depth: 50,
    entries: 5_000,
    instead: 'List dependencies in requirements.txt, which is read instead of pyproject.toml',
  },
  lockFile: {
    what: 'a lock file',
    bytes: 8 * MIB,
    instead: 'List dependencies in requirements.txt, which is read instead of a lock file',
  },
  dockerfile: {
    what: 'a Dockerfile',
    bytes: 128 * KIB,
    lineCharacters: 16 * KIB,
    entries: 2_000,
    instead: 'Move what it writes inline to files of their own, and COPY them',
  },
  ignoreFile: {
    what: '.airflowignore',
    bytes: 64 * KIB,
    lineCharacters: 1_000,
    entries: 1_000,
    instead: 'Leave out whole folders instead of single files',
  },
  airflowConfig: {
    what: 'airflow.cfg',
    bytes: MIB,
    lineCharacters: 16 * KIB,
    instead: 'Keep only what differs from the defaults of Airflow',
  },
  environment: {
    what: '.env',
    bytes: 256 * KIB,
    instead: 'Keep files and certificates outside of .env, and set their paths',
  },
  dagFile: {
    what: 'a DAG file',
    bytes: 4 * MIB,
    instead: 'Keep data in files of their own',
  },
  archive: {
    what: 'a zip of DAG files',
    bytes: 64 * MIB,
    entries: 10_000,
    instead: 'Pack only the DAG files and the modules that they import',
  },
  importFile: {
    what: 'a file to import',
    bytes: 16 * MIB,
    depth: 100,
    keys: 100_000,
    aliases: 100,
    marks: 400_000,
    instead: 'Split it, and import the parts one after the other',
  },
  editorFile: {
    what: 'a file in the editor',
    bytes: MIB,
    instead: 'Edit larger files outside of the browser',
  },
} as const satisfies Record<string, FileLimits>;

export type FileKind = keyof typeof FILE_LIMITS;

/** A file above a limit. The message names the limit, and `instead` says what to do. Both are shown after `file`. */
export class FileLimitError extends Error {
  override readonly name = 'FileLimitError';
  readonly file: string;
  readonly line: number | null;
  readonly instead: string;

  constructor(input: { file: string; message: string; instead: string; line?: number | null }) {
    super(input.message);
    this.file = input.file;
    this.line = input.line ?? null;
    this.instead = input.instead;
  }
}

export function tooLarge(kind: FileKind, file: string, bytes: number): FileLimitError {
  const { bytes: limit, instead } = FILE_LIMITS[kind];
  // A size that rounds to the limit itself would read as a contradiction, so it is shown in bytes.
  const isClose = inUnits(bytes).replace('.0 ', ' ') === inUnits(limit);
  const size = isClose ? `${bytes.toLocaleString('en')} bytes` : inUnits(bytes);
  return new FileLimitError({
    file,
    message: `is too large: it has ${size}, and the limit is ${inUnits(limit)}`,
    instead,
  });
}

export function tooMany(
  kind: FileKind,
  file: string,
  { what, limit, line }: { what: string; limit: number; line: number | null },
): FileLimitError {
  const message = `has more than ${limit.toLocaleString('en')} ${what}, which is the limit`;
  return new FileLimitError({ file, message, instead: FILE_LIMITS[kind].instead, line });
}

export const tooDeep = (kind: FileKind, file: string, line: number | null): FileLimitError => {
  const limits: FileLimits = FILE_LIMITS[kind];
  return new FileLimitError({
    file,
    message: `is nested too deeply: lists and maps may be nested ${limits.depth} levels deep`,
    instead: 'Nest less, and check for brackets that are not closed',
    line,
  });
};

function inUnits(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  const [value, unit] = bytes < MIB ? [bytes / KIB, 'KiB'] : [bytes / MIB, 'MiB'];
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${unit}`;
}

/** Checks the limits of lines: their length, and how many of them have content. */
export function checkLines(kind: FileKind, file: string, text: string): void {
  const { lineCharacters = Infinity, entries = Infinity }: FileLimits = FILE_LIMITS[kind];
  if (lineCharacters === Infinity && entries === Infinity) return;
  let found = 0;
  let line = 1;
  for (let start = 0; start <= text.length; line += 1) {
    const next = text.indexOf('\n', start);
    const end = next === -1 ? text.length : next;
    if (end - start > lineCharacters) {
      const message = `has a line of ${(end - start).toLocaleString('en')} characters, and the limit is ${lineCharacters.toLocaleString('en')}`;
      throw new FileLimitError({ file, message, instead: 'Break the line, or make it shorter', line });
    }
    if (isEntry(text, start, end)) found += 1;
    if (found > entries) throw tooMany(kind, file, { what: 'entries', limit: entries, line });
    start = end + 1;
  }
}

function isEntry(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || code === 0x09 || code === 0x0d) continue;
    return code !== 0x23; // #
  }
  return false;
}
