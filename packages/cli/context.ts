import type { ReadStream, WriteStream } from 'node:tty';
import type { CommandAnnouncement } from './client/command-announcement.ts';
import type { Flags } from '@svc/server/config/read-flags.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The access of a command to the outside world. Every command receives it, so that none uses `process` directly. */
export type CliContext = {
  readonly env: Environment;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Configuration keys given as flags. Only commands that load a configuration have any. */
  readonly configFlags: Flags;
  /** Announces the command to the control plane for the audit log. */
  readonly announcement?: CommandAnnouncement;
};

/** Variables with our prefix that only this program reads. They are not configuration keys. */
const OWN_VARIABLES = new Set([
  'SVC_HOME',
  'SVC_PASSWORD',
  'SVC_GIT_VERSION',
  'SVC_PYTHON',
  'SVC_REGISTRY_USERNAME',
  'SVC_REGISTRY_PASSWORD',
]);

/**
 * Returns the environment for the configuration of the control plane, which would report our own variables as unknown
 * keys.
 */
export function configEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN_VARIABLES.has(name)));
}

export function warn(context: Pick<CliContext, 'stderr'>, message: string): void {
  context.stderr.write(`warning: ${message}\n`);
}

/** Prints machine-readable output, which is always one document. */
export function printJson(context: Pick<CliContext, 'stdout'>, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
