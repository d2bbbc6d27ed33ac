/** Checks that all processes of the installation that write or read task logs on a disk use the same directory. */
import type { Logger } from 'pino';
import type { Config } from './config/load.ts';
import { runsTasks } from './create-run-engine.ts';
import type { Database } from './db/database.ts';
import { countSchedulers } from './db/processes/heartbeats.ts';
import { findInstallation, recordLogsMarked } from './db/processes/installation.ts';
import { markDirectory, unsharedReason } from './logs/shared-directory.ts';

/** How long a scheduler may be silent and still count as alive: some heartbeats. */
const ALIVE_WITHIN_MS = 30_000;

/**
 * Returns why this process must not continue, for people. Undefined when it may. A process that runs tasks leaves the
 * marker for the others.
 */
export async function shareLogs(input: { config: Config; db: Database; logger: Logger }): Promise<string | undefined> {
  const { config, db, logger } = input;
  if (config.logs.backend !== 'disk') return undefined;
  const { dir } = config.logs;
  const installation = await findInstallation(db);
  const unshared = await unsharedReason(dir, installation);
  if (config.server.role === 'api') return unshared;
  if (!runsTasks(config)) return undefined;
  if (unshared !== undefined && (await countSchedulers(db, { withinMs: ALIVE_WITHIN_MS })) > 0) {
    // A single scheduler may have been given another directory. Next to others it would hide its logs from them.
    if (config.server.role === 'scheduler') return `${unshared}; to move logs.dir, stop all schedulers first`;
    logger.warn({ code: 'SVC1011' }, unshared);
  }
  try {
    await markDirectory(dir, installation.id);
    await recordLogsMarked(db);
  } catch (error) {
    logger.error(
      { code: 'SVC1012', err: error },
      'the directory of task logs cannot be written: tasks will have no logs',
    );
  }
  return undefined;
}
