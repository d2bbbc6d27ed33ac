/**
 * Sets a new password for a user of lite, whether lite runs or not. It is for a person with access to the machine who
 * does not know the old password.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, hashPassword } from '@svc/server/auth/passwords.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { recordAudit } from '@svc/server/db/identity/audit-log.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { endSessionsOfUser } from '@svc/server/db/identity/sessions.ts';
import { DEFAULT_TENANT } from '@svc/server/db/identity/tenants.ts';
import { findUserForLogin, insertUser, normaliseEmail, updateUser } from '@svc/server/db/identity/users.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { migrateSchema, withDatabase } from '../database.ts';
import { readStdin } from '../prompt.ts';
import type { ConfigOptions } from '../server-config.ts';
import { loadLiteConfig } from './config.ts';
import { prepareDataDirectory } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';
import { LITE_ADMIN } from './defaults.ts';
import { adminPasswordFile, makePassword, readOrMakeSecrets, writeSecretFile } from './generated-secrets.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';
import { acquireLock, holderOf } from './lock.ts';
import { runningUrl, startLitePostgres } from './postgres.ts';

type Options = ConfigOptions & { dataDirectory: string; username?: string; passwordStdin?: true };

export async function resetLitePassword(context: CliContext, options: Options): Promise<void> {
  const config = loadLiteConfig(context, options);
  const firstAdmin = normaliseEmail(String(config.chosen('auth.bootstrap.email')?.value ?? LITE_ADMIN));
  const email = normaliseEmail(options.username ?? firstAdmin);
  const given = options.passwordStdin ? await readStdin(context) : undefined;
  const password = given ?? makePassword();
  if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) {
    throw usageError(`a password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
  }
  const directory = await prepareDataDirectory(options.dataDirectory, process.getuid?.() === 0);
  const secrets = readOrMakeSecrets(directory.secrets);
  const url = config.chosen('database.url')?.value;
  const change = (database: string): Promise<void> =>
    setPassword({ url: database, email, password, mayCreate: email === firstAdmin });
  await (url === undefined ? onOwnPostgres({ directory, secrets, use: change }) : change(String(url)));

  if (email === firstAdmin) writeSecretFile(adminPasswordFile(directory.secrets), password);
  context.stdout.write(
    given === undefined
      ? `User      ${email}\nPassword  ${password}\n`
      : `The password of ${email} is changed; all sessions of that user have ended.\n`,
  );
}

/** Uses the Postgres of the running lite, or starts one for this command. */
async function onOwnPostgres(input: {
  directory: DataDirectory;
  secrets: GeneratedSecrets;
  use: (url: string) => Promise<void>;
}): Promise<void> {
  const { directory, secrets, use } = input;
  const password = secrets.databasePassword;
  if (holderOf(directory.lock)) {
    await use(runningUrl({ port: portOfRunning(directory), password }));
    return;
  }
  const lock = await acquireLock(directory.lock);
  try {
    const postgres = await startLitePostgres({ directory, password, onLog: () => {}, onRestart: () => {} });
    try {
      await use(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    lock.release();
  }
}

/** Postgres writes its port to the fourth line of this file. */
function portOfRunning(directory: DataDirectory): number {
  try {
    const port = Number(readFileSync(join(directory.postgres, 'postmaster.pid'), 'utf8').split('\n')[3]);
    if (port > 0) return port;
  } catch {
    // not written yet, see below
  }
  throw new CliError('svc lite is running, but its Postgres is not up', { hint: 'try again in a moment' });
}

async function setPassword(input: {
  url: string;
  email: string;
  password: string;
  /** Creates a missing first administrator, because a lite that failed at its first start has none. */
  mayCreate: boolean;
}): Promise<void> {
  const { url, email, password, mayCreate } = input;
  await migrateSchema(url);
  const passwordHash = await hashPassword(password);
  await withDatabase(url, async (db) => {
    const tenant = await ensureTenant(db.shared, DEFAULT_TENANT);
    await db
      .tenant(tenant.id)
      .transaction()
      .execute(async (trx: TenantDb) => {
        const user = await findUserForLogin(trx, email);
        if (user) {
          await updateUser(trx, user.id, { passwordHash, isActive: true });
          await endSessionsOfUser(trx, user.id);
        } else if (!mayCreate) {
          throw new CliError(`there is no user ${email}`, { exitCode: EXIT.notFound });
        }
        const id = user?.id ?? (await insertUser(trx, { email, passwordHash, roles: ['admin'] }))?.id ?? '';
        await recordAudit(
          trx,
          { name: 'svc lite reset-password', clientIp: '127.0.0.1', requestId: randomUUID() },
          { event: 'reset_password', objectKind: 'user', objectId: id },
        );
      });
  });
}
