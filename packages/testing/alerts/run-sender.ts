/** A process that sends alerts and nothing else, for tests that kill it. Its settings are in the environment. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAlertSender } from '@svc/server/alerts/sender.ts';
import { loadConfig } from '@svc/server/config/load.ts';
import { alertSources } from '@svc/server/create-alerts.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { openKeyring } from '@svc/server/open-keyring.ts';

const { config } = loadConfig({ env: process.env });
const db = openDatabase({
  url: config.database.url,
  maxOpenConns: 2,
  maxIdleConns: 1,
  statementTimeoutMs: 30_000,
  idleInTransactionTimeoutMs: 30_000,
});
const sender = createAlertSender({
  ...alertSources({
    config,
    db,
    keyring: openKeyring(config),
    graphs: createDagGraphs(),
    logs: createDiskLogStore({ dir: config.logs.dir }),
  }),
  processId: randomUUID(),
  log: { error: (...told: unknown[]) => process.stderr.write(`${JSON.stringify(told)}\n`) },
  leaseSeconds: 1,
});
process.stdout.write('ready\n');
for (;;) {
  await sender.drain();
  await sleep(20);
}
