/**
 * How far a worker isolates its attempts from each other.
 *
 *   together   as in Airflow: HOME, temporary folder and working directory are the worker's. The default of the worker
 *              that the control plane starts on its own machine (`executor.isolation` sets another)
 *   apart      each attempt has its own folders, and can neither look into other processes nor signal them. The default
 *              of a worker that has joined with a token
 *   pod        the same, and the shared memory belongs to the worker alone
 *
 * In every mode attempts are separate processes, and the processes that they leave running are ended.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { makeFolderFor, removeFolderOf } from './environment-owner.ts';
import type { Isolation } from './fork-server.ts';
import { SettingsError } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const KINDS = ['together', 'apart', 'pod'] as const;
export type IsolationKind = (typeof KINDS)[number];

const KIND_VARIABLE = 'SVC_AGENT_ISOLATION';
const GROWTH_VARIABLE = 'SVC_AGENT_MAX_INTERPRETER_GROWTH_MB';
const DEFAULT_GROWTH_MB = 256;
/** Not longer, because tasks create sockets below it, and their paths are limited to 108 bytes. */
const NAME_BYTES = 12;

/** `joins`: it has joined with a token, and the control plane did not start it on its own machine. */
export function isolationKind(env: Environment, joins: boolean): IsolationKind {
  const given = env[KIND_VARIABLE] ?? '';
  if (given === '') return !joins ? 'together' : env['KUBERNETES_SERVICE_HOST'] ? 'pod' : 'apart';
  const kind = KINDS.find((known) => known === given);
  if (!kind) throw new SettingsError(`${KIND_VARIABLE} is ${JSON.stringify(given)}: set one of ${KINDS.join(', ')}`);
  return kind;
}

export function maxGrowth(env: Environment): number {
  const text = env[GROWTH_VARIABLE] || String(DEFAULT_GROWTH_MB);
  const megabytes = Number(text);
  if (Number.isInteger(megabytes) && megabytes >= 0) return megabytes * 1024 * 1024;
  throw new SettingsError(
    `${GROWTH_VARIABLE} is ${JSON.stringify(text)}: set a whole number of MiB, or 0 for no limit`,
  );
}

type Isolations = {
  /**
   * True when the worker leaves after an attempt has left something behind. Otherwise only the Python process is
   * replaced.
   */
  readonly leavesWhenUnclean: boolean;
  /** Returns the isolation for one more server. */
  next(): Isolation;
  /** Called when that server has ended. */
  ended(isolation: Isolation): void;
  /** Removes what is left of the folders. */
  close(): void;
};

export function createIsolations(input: {
  kind: IsolationKind;
  env: Environment;
  user: TaskUser | undefined;
  /** True for the worker that the control plane has started on its own machine. No other worker can replace it. */
  isLocal: boolean;
}): Isolations {
  const { kind, user, isLocal } = input;
  const growth = { max_growth: maxGrowth(input.env) };
  if (kind === 'together') return { leavesWhenUnclean: false, next: () => growth, ended() {}, close() {} };
  const base = mkdtempSync(join(tmpdir(), 'svc-attempts-'));
  // The user of tasks may enter it but not list it, so that tasks of one server cannot find the folders of another.
  if (user) chmodSync(base, 0o711);
  const remove = (folder: string): void => {
    try {
      removeFolderOf(user, folder);
    } catch {
      // Servers remove their own folders. This is for a server that was killed; the machine's own cleanup removes the
      // rest.
    }
  };
  return {
    leavesWhenUnclean: !isLocal,
    next() {
      const places = join(base, randomBytes(NAME_BYTES).toString('base64url'));
      if (user) makeFolderFor(user, places);
      return { ...growth, places, owns_machine: kind === 'pod', is_local: isLocal };
    },
    ended: ({ places }) => places !== undefined && remove(places),
    close: () => remove(base),
  };
}
