/**
 * Where the log of one try lies on a disk: `{prefix}/{tenant}/{dag}/{run}/{task}~{try}.log`. A folder for each task, as buckets
 * seem to have, would be two changes of the file system for each, which take 200 µs; a file in a folder that is there takes 8.
 * Ids may be any text; names must be safe, and two ids must never share one:
 *
 *   letters, digits, _ - + : = @ , and inner dots   as they are
 *   everything else, a leading dot too              as %XX of its UTF-8 bytes, so neither `..` nor `/` can occur
 *   `~`                                             never in an encoded id, hence free to mean three things here
 *   names over 180 characters                       their beginning, `~~` and the SHA-256 of the id
 *   an instance of a mapped task                    the name of the task, `~` and its map index
 *   a try                                           the name of the instance, `~`, its number and `.log`
 *
 * Logs that were written before lie in `{run}/{instance}/{try}.log`, and are found and removed there.
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
const LOG_FILE = /~\d+\.log$/;
const LOG_FILE_BEFORE = /^\d+\.log$/;

export function logKeySegments(logKey: LogKey, options: NameOptions): string[] {
  return [...runSegments(logKey, options), `${instanceName(logKey, options)}~${logKey.tryNumber}.log`];
}

/** Where it lay when tasks had folders. */
export function segmentsBefore(logKey: LogKey, options: NameOptions): string[] {
  return [...runSegments(logKey, options), instanceName(logKey, options), `${logKey.tryNumber}.log`];
}

const runSegments = ({ tenantId, dagId, runId }: LogKey, options: NameOptions): string[] =>
  [tenantId, dagId, runId].map((id) => encodeName(id, options));

const instanceName = ({ taskId, mapIndex }: Pick<LogKey, 'taskId' | 'mapIndex'>, options: NameOptions): string => {
  const task = encodeName(taskId, options);
  return mapIndex === -1 ? task : `${task}~${mapIndex}`;
};

/** In the folder of a run. */
export const isLogFile = (name: string): boolean => LOG_FILE.test(name);
/** In the folder of an instance. */
export const isLogFileBefore = (name: string): boolean => LOG_FILE_BEFORE.test(name);

/**
 * Whether a file or folder in that of a run holds logs of the task: of one instance or try of it, or of any.
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
  if (name === '') return '%'; // no id encodes to this
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, MAX_NAME_LENGTH - 66)}~~${createHash('sha256').update(id).digest('hex')}`;
}

const percentEncoded = (character: string): string =>
  [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
