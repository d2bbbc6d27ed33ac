/**
 * The path of the log of one try on a disk: `{prefix}/{tenant}/{dag}/{run}/{task}~{try}.log`. There is no folder for
 * each task, unlike in buckets, because creating folders costs much more than creating a file in an existing one. Ids
 * may be any text. Names must be safe, and two ids must never share one:
 *
 *   letters, digits, _ - + : = @ , and inner dots   unchanged
 *   everything else, a leading dot too              as %XX of its UTF-8 bytes, so neither `..` nor `/` can occur
 *   `~`                                             never in an encoded id, so it can have the three meanings below
 *   names over 180 characters                       their beginning, `~~` and the SHA-256 of the id
 *   an instance of a mapped task                    the name of the task, `~` and its map index
 *   a try                                           the name of the instance, `~`, its number and `.log`
 *
 * Logs in the old layout are `{run}/{instance}/{try}.log`. They are still found and removed there.
 */
import { createHash } from 'node:crypto';

export type LogKey = {
  tenantId: string;
  dagId: string;
  runId: string;
  taskId: string;
  /** -1 means that the task is not mapped. */
  mapIndex: number;
  tryNumber: number;
};

/** Everything below a folder of the tree. Without a map index, it covers all instances of the task. */
export type LogScope = Pick<LogKey, 'tenantId' | 'dagId'> & Partial<LogKey>;

export type NameOptions = {
  /** If false, `A` and `a` are the same file, so capitals are encoded as well. */
  caseSensitive: boolean;
};

/** File systems allow 255 bytes, so the suffixes of a name (hash, map index) still fit. */
const MAX_NAME_LENGTH = 180;
const KEPT = /^[\w.:+=@,-]$/;
const LOG_FILE = /~\d+\.log$/;
const LOG_FILE_BEFORE = /^\d+\.log$/;

export function logKeySegments(logKey: LogKey, options: NameOptions): string[] {
  return [...runSegments(logKey, options), `${instanceName(logKey, options)}~${logKey.tryNumber}.log`];
}

/** Returns the path in the old layout, which has a folder per task. */
export function segmentsBefore(logKey: LogKey, options: NameOptions): string[] {
  return [...runSegments(logKey, options), instanceName(logKey, options), `${logKey.tryNumber}.log`];
}

const runSegments = ({ tenantId, dagId, runId }: LogKey, options: NameOptions): string[] =>
  [tenantId, dagId, runId].map((id) => encodeName(id, options));

const instanceName = ({ taskId, mapIndex }: Pick<LogKey, 'taskId' | 'mapIndex'>, options: NameOptions): string => {
  const task = encodeName(taskId, options);
  return mapIndex === -1 ? task : `${task}~${mapIndex}`;
};

/** True for the name of a log in the folder of a run. */
export const isLogFile = (name: string): boolean => LOG_FILE.test(name);
/** True for the name of a log in the folder of an instance, the old layout. */
export const isLogFileBefore = (name: string): boolean => LOG_FILE_BEFORE.test(name);

/**
 * True if an entry in the folder of a run contains logs of the task, or of the given instance or try of it.
 *
 *   {task} {task}~{map index}                              folders
 *   {task}~{try}.log {task}~{map index}~{try}.log          files
 */
export function isOfTask(
  entry: { name: string; isFolder: boolean },
  { taskId, mapIndex, tryNumber }: { taskId: string; mapIndex?: number | undefined; tryNumber?: number | undefined },
  options: NameOptions,
): boolean {
  const task = encodeName(taskId, options);
  if (!entry.name.startsWith(task)) return false;
  const rest = entry.name.slice(task.length);
  const found = (entry.isFolder ? /^(?:~(\d+))?$/ : /^(?:~(\d+))?~(\d+)\.log$/).exec(rest);
  if (!found) return false;
  const [, index = '-1', tried] = found;
  return (
    (mapIndex === undefined || String(mapIndex) === index) &&
    (tryNumber === undefined || tried === undefined || String(tryNumber) === tried)
  );
}

export function encodeName(id: string, { caseSensitive }: NameOptions): string {
  let name = '';
  for (const [index, character] of [...id].entries()) {
    const isKept =
      KEPT.test(character) && !(character === '.' && index === 0) && (caseSensitive || !/[A-Z]/.test(character));
    name += isKept ? character : percentEncoded(character);
  }
  if (name === '') return '%'; // no other id has this code
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH - 66)}~~${createHash('sha256').update(id).digest('hex')}`;
}

const percentEncoded = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
