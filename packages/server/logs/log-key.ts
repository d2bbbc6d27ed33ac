/**
 * Where the log of one try lies: `{prefix}/{tenant}/{dag}/{run}/{task}/{try}.log`, below the directory or in the bucket of
 * the backend. Ids may be any text; names must be safe, and two ids must never share one:
 *
 *   letters, digits, _ - + : = @ , and inner dots   as they are
 *   everything else, a leading dot too              as %XX of its UTF-8 bytes, so neither `..` nor `/` can occur
 *   `~`                                             never in an encoded id, hence free to mean two things here
 *   names over 180 characters                       their beginning, `~~` and the SHA-256 of the id
 *   an instance of a mapped task                    the name of the task, `~` and its map index
 */
import { createHash } from 'node:crypto';

export type LogKey = {
  tenantId: string;
  dagId: string;
  runId: string;
  taskId: string;
  /** -1: not mapped. */
  mapIndex: number;
  tryNumber: number;
};

/** Everything below a folder of the tree. Without a map index: of all instances of the task. */
export type LogScope = Pick<LogKey, 'tenantId' | 'dagId'> & Partial<LogKey>;

export type NameOptions = {
  /** Where `A` and `a` are one file, capitals are encoded too. */
  caseSensitive: boolean;
};

/** File systems allow 255 bytes; what is added to a name (hash, map index) fits beside this. */
const MAX_NAME_LENGTH = 180;
const KEPT = /^[\w.:+=@,-]$/;
const LOG_FILE = /^(\d+)\.log$/;

export function logKeySegments(logKey: LogKey, options: NameOptions): string[] {
  const task = encodeName(logKey.taskId, options);
  return [
    encodeName(logKey.tenantId, options),
    encodeName(logKey.dagId, options),
    encodeName(logKey.runId, options),
    logKey.mapIndex === -1 ? task : `${task}~${logKey.mapIndex}`,
    `${logKey.tryNumber}.log`,
  ];
}

export const isLogFile = (name: string): boolean => LOG_FILE.test(name);

/** Is this the folder of the task, or of one of its mapped instances? */
export function isFolderOfTask(name: string, taskId: string, options: NameOptions): boolean {
  const task = encodeName(taskId, options);
  return name === task || (name.startsWith(`${task}~`) && /^\d+$/.test(name.slice(task.length + 1)));
}

export function encodeName(id: string, { caseSensitive }: NameOptions): string {
  let name = '';
  for (const [index, character] of [...id].entries()) {
    const isKept =
      KEPT.test(character) && !(character === '.' && index === 0) && (caseSensitive || !/[A-Z]/.test(character));
    name += isKept ? character : percentEncoded(character);
  }
  if (name === '') return '%'; // no id encodes to this
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH - 66)}~~${createHash('sha256').update(id).digest('hex')}`;
}

const percentEncoded = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
