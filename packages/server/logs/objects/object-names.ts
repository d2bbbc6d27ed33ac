/**
 * Names of task logs in a bucket, below `logs.sink.prefix`:
 *
 *   {tenant}/{dag}/{run}/{task}/{try}.log                one object, when the try has ended
 *   {tenant}/{dag}/{run}/{task}/{map index}/{try}.log    the same for an instance of a mapped task
 *   ….log.parts/{from}-{to}                              bytes of a long log while its try runs
 *
 * Ids are encoded as in log-key.ts. The name of a part says which bytes it contains, so two processes that write the
 * same part write the same bytes.
 */
import { encodeName } from '../log-key.ts';
import type { LogKey, LogScope } from '../log-key.ts';

const NAMES = { caseSensitive: true };
const PARTS = '.parts/';
/** Names below the prefix that belong to task logs, parts included. */
const OURS = /^[^/]+\/[^/]+\/[^/]+\/[^/]+\/(?:\d+\/)?\d+\.log(?:\.parts\/\d+-\d+)?$/;

export type ObjectNames = {
  objectOf(logKey: LogKey): string;
  partOf(logKey: LogKey, part: { at: number; to: number }): string;
  partsOf(logKey: LogKey): string;
  /** The prefix to list, and a filter for the keys inside the scope. */
  within(scope: LogScope): { prefix: string; has(key: string): boolean };
  everything: { prefix: string; has(key: string): boolean };
  /** The key of an object that only tests whether writing is possible. */
  readonly check: string;
};

export function objectNames(prefix: string): ObjectNames {
  const root = prefix
    .split('/')
    .filter((part) => part !== '')
    .map((part) => `${encodeName(part, NAMES)}/`)
    .join('');

  const objectOf = (logKey: LogKey): string => `${taskFolder(root, logKey)}${logKey.tryNumber}.log`;
  const isOurs = (key: string): boolean => key.startsWith(root) && OURS.test(key.slice(root.length));

  return {
    objectOf,
    partOf: (logKey, { at, to }) => `${objectOf(logKey)}${PARTS}${at}-${to}`,
    partsOf: (logKey) => `${objectOf(logKey)}${PARTS}`,
    within(scope) {
      const folder = folderOf(root, scope);
      const { tryNumber, mapIndex } = scope;
      // If another version of the DAG maps the task, the folders of its instances are next to the logs of the unmapped
      // task.
      const tries = tryNumber === undefined ? String.raw`\d+` : String(tryNumber);
      const instance = mapIndex === undefined && tryNumber !== undefined ? String.raw`(?:\d+/)?` : '';
      const name = new RegExp(`^${instance}${tries}\\.log(?:\\.parts/.*)?$`);
      const isAll = mapIndex === undefined && tryNumber === undefined;
      return {
        prefix: folder,
        has: (key) => isOurs(key) && key.startsWith(folder) && (isAll || name.test(key.slice(folder.length))),
      };
    },
    everything: { prefix: root, has: isOurs },
    check: `${root}.svc-check`,
  };
}

function folderOf(root: string, scope: LogScope): string {
  const { tenantId, dagId, runId, taskId, mapIndex } = scope;
  const dag = `${root}${encodeName(tenantId, NAMES)}/${encodeName(dagId, NAMES)}/`;
  if (runId === undefined) return dag;
  const run = `${dag}${encodeName(runId, NAMES)}/`;
  if (taskId === undefined) return run;
  return taskFolder(root, { tenantId, dagId, runId, taskId, mapIndex: mapIndex ?? -1 });
}

function taskFolder(root: string, key: Pick<LogKey, 'tenantId' | 'dagId' | 'runId' | 'taskId' | 'mapIndex'>): string {
  const ids = [key.tenantId, key.dagId, key.runId, key.taskId].map((id) => encodeName(id, NAMES));
  return `${root}${ids.join('/')}/${key.mapIndex === -1 ? '' : `${key.mapIndex}/`}`;
}
