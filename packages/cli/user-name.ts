import { userInfo } from 'node:os';

/** Returns the user of the machine that runs the command. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '?'); // a user without a name, as in many containers
  }
}
