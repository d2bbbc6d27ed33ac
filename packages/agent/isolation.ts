/**
 * How far a worker keeps its attempts apart.
 *
 *   together   as Airflow does it: HOME, temporary folder and working directory are the worker's. The worker that the control
 *              plane starts on its own machine
 *   apart      each attempt has its own of these, and cannot look into other processes. A worker that has joined with a token
 *   pod        the same, and shared memory is the worker's alone
 *
 * Attempts are processes of their own in any case, and what they leave running is ended.
 */
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { removeFolderOf } from './environment-owner.ts';
import type { Isolation } from './fork-server.ts';
import { SettingsError } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const KINDS = ['together', 'apart', 'pod'] as const;
export type IsolationKind = (typeof KINDS)[number];

const KIND_VARIABLE = 'SVC_AGENT_ISOLATION';
const GROWTH_VARIABLE = 'SVC_AGENT_MAX_INTERPRETER_GROWTH_MB';
const DEFAULT_GROWTH_MB = 256;

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
  readonly keepsApart: boolean;
  /** For one more server. */
  next(): Isolation;
  /** Removes what is left of the folders. */
  close(): void;
};

export function createIsolations(input: {
  kind: IsolationKind;
  env: Environment;
  user: TaskUser | undefined;
}): Isolations {
  const { kind, user } = input;
  const growth = { max_growth: maxGrowth(input.env) };
  if (kind === 'together') return { keepsApart: false, next: () => growth, close() {} };
  const base = mkdtempSync(join(tmpdir(), 'svc-attempts-'));
  if (user) chownSync(base, user.uid, user.gid);
  let servers = 0;
  return {
    keepsApart: true,
    next() {
      servers += 1;
      return { ...growth, places: join(base, String(servers)), owns_machine: kind === 'pod' };
    },
    close() {
      try {
        removeFolderOf(user, base);
      } catch {
        // servers remove their own; this is for one that was killed, and the machine's own sweep for what is left of that
      }
    },
  };
}
