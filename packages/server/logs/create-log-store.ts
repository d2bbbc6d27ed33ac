import type { Config } from '../config/load.ts';
import type { Carrier } from '../redis/carrier.ts';
import { sessionUrl } from '../db/database-path.ts';
import type { Database } from '../db/database.ts';
import { createDiskLogStore } from './disk-store.ts';
import { createObjectLogStore } from './objects/object-log-store.ts';
import type { ObjectLogOptions } from './objects/object-log-store.ts';
import { openObjectStore } from './objects/open-store.ts';
import type { LogStore } from './store.ts';

/** Creates the store that `logs.backend` names. */
export function createLogStore(input: {
  config: Config;
  writing: Database;
  reading: Database;
  processId: string;
  logger: ObjectLogOptions['log'];
  carrier?: Carrier | undefined;
}): LogStore {
  const { config, writing, reading, processId, logger, carrier } = input;
  const { logs } = config;
  const store = openObjectStore(config);
  if (!store) return createDiskLogStore({ dir: logs.dir, prefix: logs.sink.prefix, carrier });
  return createObjectLogStore({
    store,
    prefix: logs.sink.prefix,
    databaseUrl: sessionUrl(config),
    writing,
    reading,
    processId,
    maxSpoolBytes: logs.spoolBytes,
    log: logger,
    carrier,
  });
}
