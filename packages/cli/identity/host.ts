/**
 * Helpers of commands on the host of the control plane: their name in the audit log, and passwords from stdin or a
 * file.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database } from '@svc/server/db/database.ts';
import type { Actor } from '@svc/server/db/identity/audit-log.ts';
import { CliError, EXIT, messageOf, usageError } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { readStdin, utf8Of } from '../prompt.ts';
import { sessionUrl } from '@svc/server/db/database-path.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';
import { userName } from '../user-name.ts';

export type HostOptions = ConfigOptions & { json?: true };

export const withHostOptions = (command: SvcCommand): SvcCommand =>
  withConfigOptions(command).option('--json', 'print JSON');

/** Updates the schema first, because one of these commands may run before the first start. */
export async function onHostDatabase<T>(
  context: CliContext,
  options: HostOptions,
  use: (db: Database) => Promise<T>,
): Promise<T> {
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { migrateSchema, withDatabase } = await import('../database.ts');
  await migrateSchema(sessionUrl(config));
  return withDatabase(sessionUrl(config), use);
}

export const hostActor = (command: string): Actor => ({
  name: `host:${userName()}`,
  clientIp: `svc ${command}`,
  requestId: randomUUID(),
});

export type SecretPasswordOptions = { passwordStdin?: true; passwordFile?: string };

export const withSecretPasswordOptions = (command: SvcCommand, whose: string): SvcCommand =>
  command
    .option('--password-stdin', `read ${whose} from standard input`)
    .option('--password-file <file>', `read ${whose} from a file`);

/** Returns undefined if no password is given. A password of the wrong length is refused before anything changes. */
export async function readSecretPassword(
  context: CliContext,
  options: SecretPasswordOptions,
): Promise<string | undefined> {
  const { passwordStdin, passwordFile } = options;
  if (passwordStdin && passwordFile !== undefined)
    throw usageError('give --password-stdin or --password-file, not both');
  if (!passwordStdin && passwordFile === undefined) return undefined;
  const password = passwordFile === undefined ? await readStdin(context) : readPasswordFile(passwordFile);
  const { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } = await import('@svc/server/auth/passwords.ts');
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH)
    throw usageError(`a password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  return password;
}

function readPasswordFile(file: string): string {
  try {
    return utf8Of(readFileSync(file)).replace(/\r?\n$/, '');
  } catch (error) {
    throw new CliError(`the password cannot be read from ${file}: ${messageOf(error)}`, { exitCode: EXIT.usage });
  }
}

/** A password that a person types once and then changes. */
export const generatePassword = (): string => randomBytes(15).toString('base64url');
