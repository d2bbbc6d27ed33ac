import type { ReadStream, WriteStream } from 'node:tty';
import type { CommandAnnouncement } from './client/command-announcement.ts';
import type { Flags } from '@svc/server/config/read-flags.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command may touch of the outside world. Handed to every command, so that none reads `process` on its own. */
export type CliContext = {
  readonly env: Environment;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Configuration keys given as flags; only the commands that load a configuration have any. */
  readonly configFlags: Flags;
  /** What the audit log of a control plane gets to know of the command. */
  readonly announcement?: CommandAnnouncement;
};

/** Variables of the same prefix that this program reads itself and that are no configuration keys. */
const OWN_VARIABLES = new Set([
  'SVC_HOME',
  'SVC_PASSWORD',
  'SVC_GIT_VERSION',
  'SVC_PYTHON',
  'SVC_REGISTRY_USERNAME',
  'SVC_REGISTRY_PASSWORD',
]);

/** The environment as the control plane's configuration sees it. Our own variables would be reported as unknown keys. */
export function configEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_VARIABLES.has(name)));
}

export function warn(context: Pick<CliContext, 'stderr'>, message: string): void {
  context.stderr.write(`warning: ${message}\n`);
}

/** Machine-readable output, always one document. */
export function printJson(context: Pick<CliContext, 'stdout'>, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
