/** The settings that the agent reads from its environment. */
import { existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import { credentialsIn } from '@svc/spec/sensitive-names.ts';

export type AgentSettings = {
  /** A worker's credential for `work`, an attempt's for `run`. Empty when `tokenFile` is exchanged for it. */
  token: string;
  /** A token of the pod, to be exchanged for the credential. Empty when the credential was given. */
  tokenFile: string;
  /** Each is a `host:port`, in the order in which they are tried. */
  servers: readonly string[];
  /** PEM file of the authority that signed the control plane's certificate; empty: plaintext. */
  tlsCa: string;
  /** The settings of a worker that people have started. */
  join?: JoinSettings;
  /** Marks the processes of a worker that the control plane has started on its own machine. Empty for others. */
  workerId: string;
};

/** The settings of a worker that people have started, from its arguments. */
export type JoinSettings = {
  /** Each is the `host:port` of a process that serves the agent RPC, in the order in which they are tried. */
  servers: readonly string[];
  tokenFile: string;
  /** PEM file of the authority that signed the control plane's certificate. Empty: plaintext, on this machine only. */
  caFile: string;
  queues: readonly string[];
  slots: number;
  /** Empty: the name of the host. */
  name: string;
};

/** A message for people: what is missing and who sets it. */
export class SettingsError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(env: Environment): AgentSettings {
  const required = (name: string, meaning: string): string => {
    const value = env[name];
    if (value) return value;
    throw new SettingsError(`${name} is not set: it is ${meaning}, and set by the control plane that starts the agent`);
  };
  const tlsCa = env['SVC_AGENT_TLS_CA'] ?? '';
  if (tlsCa !== '' && !existsSync(tlsCa)) {
    throw new SettingsError(`SVC_AGENT_TLS_CA is ${tlsCa}, which does not exist: name a PEM file, or unset it`);
  }
  const tokenFile = env['SVC_AGENT_TOKEN_FILE'] ?? '';
  if (tokenFile !== '' && !existsSync(tokenFile)) {
    throw new SettingsError(`SVC_AGENT_TOKEN_FILE is ${tokenFile}, which does not exist: it is mounted by the cluster`);
  }
  return {
    token: tokenFile === '' ? required('SVC_AGENT_TOKEN', 'the credential') : '',
    tokenFile,
    servers: [required('SVC_AGENT_CONTROL_PLANE_ADDR', 'the address of the control plane, host:port')],
    tlsCa,
    workerId: env['SVC_WORKER'] ?? '',
  };
}

/** The settings of a worker that people have started. */
export const joinedSettings = (join: JoinSettings): AgentSettings => ({
  token: '',
  tokenFile: '',
  servers: join.servers,
  tlsCa: join.caFile,
  join,
  workerId: '',
});

/** Variables that a task must not see: the control plane's settings, and above all the agent's own credential. */
const PRIVATE = /^(SVC_|PG|DATABASE_URL$)/;
/** Those of them that are meant for tasks. */
const FOR_TASKS = new Set([
  'SVC_STAGING_DIR',
  'SVC_HTTP_USER_AGENT',
  'SVC_SECRETS_BACKEND',
  'SVC_SECRETS_BACKEND_KWARGS',
]);

/** Returns the arguments of the operator's secrets backend as they came, and the credentials among them. */
export function secretArguments(env: Environment): string[] {
  const text = env['SVC_SECRETS_BACKEND_KWARGS'] ?? '';
  return text === '' ? [] : [text, ...credentialsIn(JSON.parse(text))];
}

const UNWANTED = new Set(['PYTHONDONTWRITEBYTECODE', 'PYTHONHOME', 'PYTHONPYCACHEPREFIX', 'PYTHONSTARTUP']);

/** Variables that belong to the user that started the control plane, and that are useless for another user. */
const PERSONAL = /^(HOME|USER|LOGNAME|MAIL|OLDPWD|PWD|SHELL|SUDO_.*|XDG_.*)$/;

/** `user`: the user that gets the environment, if it is another one. */
export function taskEnvironment(env: Environment, user?: TaskUser): Record<string, string | undefined> {
  const given = Object.entries(env).filter(
    ([name]) => (!PRIVATE.test(name) || FOR_TASKS.has(name)) && !UNWANTED.has(name),
  );
  if (!user) return Object.fromEntries(given);
  const own = given.filter(([name, value]) => !PERSONAL.test(name) && (name !== 'TMPDIR' || isForEverybody(value)));
  return { ...Object.fromEntries(own), HOME: homeOf(user), USER: user.name, LOGNAME: user.name };
}

const PYTHON_FOLDER = join(import.meta.dirname, '..', '..', 'python');

/** The environment of the process that has the DAG file loaded. */
export const pythonProcessEnvironment = (env: Environment, user?: TaskUser): Record<string, string | undefined> => ({
  ...taskEnvironment(env, user),
  PYTHONPATH: PYTHON_FOLDER,
  PYTHONUNBUFFERED: '1',
});

/**
 * Options for `spawn`, which also drops the groups of this process. If that user cannot read the working directory, its
 * home is used.
 */
export function asUser(user: TaskUser | undefined): { uid?: number; gid?: number; cwd?: string } {
  if (!user) return {};
  const { uid, gid } = user;
  const canStay = ((statSync('.', { throwIfNoEntry: false })?.mode ?? 0) & 0o005) === 0o005;
  return { uid, gid, ...(!canStay && { cwd: homeOf(user) }) };
}

/** Some accounts (`nobody`) have no home. */
function homeOf({ uid, home }: TaskUser): string {
  const found = statSync(home, { throwIfNoEntry: false });
  return found?.isDirectory() && found.uid === uid ? home : tmpdir();
}

const isForEverybody = (folder = ''): boolean =>
  ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o003) === 0o003;
