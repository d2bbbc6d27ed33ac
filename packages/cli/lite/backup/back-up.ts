/**
 * `svc lite backup`: writes the database, the logs of tasks and the secrets to one archive, whether lite runs or not.
 * If lite is stopped, its Postgres is started for the backup. There is only one way to copy a database, and a start
 * also recovers from a crash.
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { asClusterSuperuser } from '@svc/local-postgres/cluster-superuser.ts';
import type { Superuser } from '@svc/local-postgres/cluster-superuser.ts';
import { CliError, EXIT, messageOf, systemCode } from '../../cli-error.ts';
import { printJson, warn } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import type { ConfigOptions } from '../../server-config.ts';
import { loadLiteConfig } from '../config.ts';
import type { LiteConfig } from '../config.ts';
import { dataDirectoryAt, refuseForeign } from '../data-directory.ts';
import type { DataDirectory } from '../data-directory.ts';
import { readOrMakeSecrets } from '../generated-secrets.ts';
import { acquireLock, holderOf } from '../lock.ts';
import { explainFailure, isDiskFull, startLitePostgres } from '../postgres.ts';
import { clusterEntries } from './cluster-entries.ts';
import { directoryEntries, fileEntry } from './directory-entries.ts';
import { MANIFEST, makeManifest, summed } from './manifest.ts';
import type { FileSum, Manifest } from './manifest.ts';
import { writeTar } from './tar.ts';
import type { TarEntry } from './tar.ts';

export type BackupOptions = ConfigOptions & { dataDirectory: string; file: string; force?: true; json?: true };

/** This level is much faster than the default, for a slightly larger file. */
const COMPRESSION_LEVEL = 2;

export async function backUpLite(context: CliContext, options: BackupOptions): Promise<void> {
  const file = resolve(options.file);
  const config = loadLiteConfig(context, options);
  const directory = dataDirectoryAt(options.dataDirectory);
  await refuseWithoutInstance(directory, config);
  if (options.force !== true && (await stat(file).catch(() => undefined))) {
    throw new CliError(`${file} is there already`, { hint: 'choose another name, or overwrite it with --force' });
  }
  for (const warning of leftOut(config)) warn(context, warning);

  const manifest = await withPostgres(directory, () =>
    asClusterSuperuser(directory.postgres, (client) => writeArchive({ client, directory, file })),
  );
  const { size } = await stat(file);
  const { files, ...facts } = manifest;
  if (options.json) {
    printJson(context, { file, bytes: size, ...facts, files: Object.keys(files).length });
    return;
  }
  context.stdout.write(
    `${file}: ${(size / 1_048_576).toFixed(1)} MiB, the database of ${facts.created_at}, logs and secrets\n` +
      `It holds the keys to everything in it: keep it as safe as the installation itself.\n` +
      `Put it back with: svc lite restore ${file}\n`,
  );
}

async function refuseWithoutInstance(directory: DataDirectory, config: LiteConfig): Promise<void> {
  const url = config.chosen('database.url');
  if (url) {
    throw new CliError(`the database is yours (${url.origin}), and lite only backs up its own`, {
      exitCode: EXIT.usage,
      hint: `use the tools of your database (pg_dump), and keep ${directory.secrets} and ${directory.logs} with its copy`,
    });
  }
  await refuseForeign(directory);
  if (!(await stat(join(directory.postgres, 'PG_VERSION')).catch(() => undefined))) {
    throw new CliError(`there is no installation of lite in ${directory.path}`, {
      exitCode: EXIT.notFound,
      hint: 'name its directory with --data-dir',
    });
  }
}

/** Returns what an installation uses but the archive cannot contain, because it is stored elsewhere. */
function leftOut(config: LiteConfig): string[] {
  return (['secret_key', 'auth.jwt.secret', 'logs.dir'] as const).flatMap((key) => {
    const chosen = config.chosen(key);
    return chosen ? [`${key} is yours (${chosen.origin}) and not in the backup: keep it with the file`] : [];
  });
}

/** Uses the Postgres of the running lite, or starts one for the backup. */
async function withPostgres<T>(directory: DataDirectory, use: () => Promise<T>): Promise<T> {
  if (holderOf(directory.lock)) return use();
  const lock = await acquireLock(directory.lock);
  try {
    const password = readOrMakeSecrets(directory.secrets).databasePassword;
    const postgres = await startLitePostgres({ directory, password, onLog: () => {}, onRestart: () => {} });
    try {
      return await use();
    } finally {
      await postgres.stop();
    }
  } finally {
    lock.release();
  }
}

/**
 * Writes under another name until the archive is complete and on the disk. A file with the final name is therefore a
 * complete backup.
 */
async function writeArchive(input: { client: Superuser; directory: DataDirectory; file: string }): Promise<Manifest> {
  const { client, directory, file } = input;
  const draft = `${file}.${randomBytes(6).toString('hex')}.partial`;
  const sums = new Map<string, FileSum>();
  let manifest: Manifest | undefined;

  async function* everything(): AsyncGenerator<TarEntry> {
    const { rows } = await client.query<{ version: string; now: Date }>(
      "select current_setting('server_version') as version, clock_timestamp() as now",
    );
    const { version = '', now = new Date() } = rows[0] ?? {};
    yield* withSums(contents(client, directory), sums);
    manifest = makeManifest({
      postgres_version: version,
      created_at: now.toISOString(),
      files: Object.fromEntries(sums),
    });
    const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
    yield { kind: 'file', path: MANIFEST, size: text.length, content: [text] };
  }

  try {
    const output = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(writeTar(everything())), createGzip({ level: COMPRESSION_LEVEL }), output);
    await flush(draft);
    await rename(draft, file);
    await flush(dirname(file));
  } catch (error) {
    await rm(draft, { force: true });
    throw explained(error, { file, directory });
  }
  if (!manifest) throw new Error('the archive has no manifest');
  return manifest;
}

/** Logs follow the database, so the archive has the file of every line that the database counts. */
async function* contents(client: Superuser, directory: DataDirectory): AsyncGenerator<TarEntry> {
  yield* clusterEntries({ client, directory: directory.postgres, as: 'postgres' });
  yield* fileEntry(`${directory.postgres}.password`, 'postgres.password');
  yield* directoryEntries({ directory: directory.secrets, as: 'secrets' });
  yield* directoryEntries({ directory: directory.logs, as: 'logs' });
}

async function* withSums(entries: AsyncIterable<TarEntry>, sums: Map<string, FileSum>): AsyncGenerator<TarEntry> {
  for await (const entry of entries) {
    if (entry.kind === 'directory') yield entry;
    else yield { ...entry, content: summed(entry.content, (sum) => void sums.set(entry.path, sum)) };
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function explained(error: unknown, { file, directory }: { file: string; directory: DataDirectory }): unknown {
  // Postgres reports a full disk
  if (systemCode(error) === undefined && isDiskFull(error)) return explainFailure(error, directory);
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new CliError(`the disk that holds ${file} is full`, {
        cause: error,
        hint: 'free some space, or write to another disk',
      });
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CliError(`${file} cannot be written: ${messageOf(error)}`, {
        cause: error,
        hint: 'name a file in a directory that is there and that you may write to',
      });
    default:
      return error;
  }
}
