/**
 * How far a worker isolates its attempts from each other.
 *
 *   together   as Airflow does it: HOME, temporary folder and working directory are the worker's. The default of the worker
 *              that the control plane starts on its own machine (`executor.isolation` sets another)
 *   apart      each attempt has its own of these, and can neither look into other processes nor signal them. The default of a
 *              worker that has joined with a token
 *   pod        the same, and shared memory is the worker's alone
 *
 * Attempts are processes of their own in any case, and what they leave running is ended.
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
/** Not more: the paths of sockets, which tasks make below it, have a limit of 108 bytes. */
const NAME_BYTES = 12;

/** `joins`: it has come by a token, and was not started by the control plane beside it. */
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
  /** The worker leaves when an attempt has left something behind; else the Python process is replaced. */
  readonly leavesWhenUnclean: boolean;
  /** For one more server. */
  next(): Isolation;
  /** That server has ended. */
  ended(isolation: Isolation): void;
  /** Removes what is left of the folders. */
  close(): void;
};

export function createIsolations(input: {
  kind: IsolationKind;
  env: Environment;
  user: TaskUser | undefined;
  /** The worker that the control plane has started on its own machine: it has no other to take its place. */
  isLocal: boolean;
}): Isolations {
  const { kind, user, isLocal } = input;
  const growth = { max_growth: maxGrowth(input.env) };
  if (kind === 'together') return { leavesWhenUnclean: false, next: () => growth, ended() {}, close() {} };
  const base = mkdtempSync(join(tmpdir(), 'svc-attempts-'));
  // The user of tasks may pass and not list it: tasks of one server cannot find the folders of another by looking.
  if (user) chmodSync(base, 0o711);
  const remove = (folder: string): void => {
    try {
      removeFolderOf(user, folder);
    } catch {
      // servers remove their own; this is for one that was killed, and the machine's own sweep for what is left of that
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
