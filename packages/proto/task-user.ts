/**
 * The user that runs author code when root has started the control plane. The account owns nothing of the control
 * plane, so it can neither read its files and processes nor signal them. The control plane looks the account up, and
 * the agent switches to it.
 */
import { readFileSync } from 'node:fs';

export type TaskUser = { name: string; uid: number; gid: number; home: string };

/** The variable that tells the agent the user, as JSON. Without it, the agent runs tasks as its own user. */
export const TASK_USER_VARIABLE = 'SVC_AGENT_TASK_USER';

/** The owner of the embedded Postgres. */
const DATABASE_USER = 'postgres';

export function findAccount(name: string, accounts = readAccounts()): TaskUser | undefined {
  const entry = accounts.split('\n').find((line) => line.startsWith(`${name}:`));
  const [, , uid, gid, , home] = entry?.split(':') ?? [];
  return uid && gid ? { name, uid: Number(uid), gid: Number(gid), home: home || '/' } : undefined;
}

/** Returns undefined for the user of this process. Throws a message for people when tasks cannot run as this user. */
export function taskUserOf(name: string, self = process.getuid?.()): TaskUser | undefined {
  if (name === '') return undefined;
  const account = findAccount(name);
  const problem = `executor.task_user is ${JSON.stringify(name)}`;
  if (!account) throw new Error(`${problem}, and this machine has no such account: name one of /etc/passwd`);
  if (account.uid === self) return undefined;
  if (self !== 0)
    throw new Error(`${problem}, but only root can run tasks as another user: start as root, or unset it`);
  if (account.uid === 0 || name === DATABASE_USER) {
    throw new Error(`${problem}, who can read what must be kept from tasks: name another account`);
  }
  return account;
}

export function readTaskUser(text: string | undefined): TaskUser | undefined {
  return text ? (JSON.parse(text) as TaskUser) : undefined;
}

export function readAccounts(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
