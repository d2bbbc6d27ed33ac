/** Whether all processes of the installation that keep or read task logs on a disk do so in the same directory. */
import type { Logger } from 'pino';
import type { Config } from './config/load.ts';
import { runsTasks } from './create-run-engine.ts';
import type { Database } from './db/database.ts';
import { countSchedulers } from './db/processes/heartbeats.ts';
import { findInstallation, recordLogsMarked } from './db/processes/installation.ts';
import { markDirectory, unsharedReason } from './logs/shared-directory.ts';

/** As long as a scheduler may be silent and count as alive: some beats. */
const ALIVE_WITHIN_MS = 30_000;

/** Why this process must not go on, in words; undefined when it may. One that runs tasks leaves the marker for the others. */
export async function shareLogs(input: { config: Config; db: Database; logger: Logger }): Promise<string | undefined> {
  const { config, db, logger } = input;
  if (config.logs.backend !== 'disk') return undefined;
  const { dir } = config.logs;
  const installation = await findInstallation(db);
  const unshared = await unsharedReason(dir, installation);
  if (config.server.role === 'api') return unshared;
  if (!runsTasks(config)) return undefined;
  if (unshared !== undefined && (await countSchedulers(db, { withinMs: ALIVE_WITHIN_MS })) > 0) {
    // A scheduler alone may have been given another directory; beside others it would hide its logs from everybody.
    if (config.server.role === 'scheduler') return `${unshared}; to move logs.dir, stop all schedulers first`;
    logger.warn(unshared);
  }
  try {
    await markDirectory(dir, installation.id);
    await recordLogsMarked(db);
  } catch (error) {
    logger.error({ err: error }, 'the directory of task logs cannot be written: tasks will have no logs');
  }
  return undefined;
}
