/** Connects the sender of alerts with the database, the vault and the configuration. */
import type { Logger } from 'pino';
import { createSendMail } from './alerts/channels/smtp.ts';
import { createPost } from './alerts/outbound.ts';
import { createAlertSender } from './alerts/sender.ts';
import type { AlertSender, AlertSources } from './alerts/sender.ts';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import type { DagGraphs } from './engine/shared/dag-graphs.ts';
import type { LogStore } from './logs/store.ts';
import type { Keyring } from './vault/keyring.ts';
import { createReaderMasks } from './vault/reader-masks.ts';

type Input = { config: Config; db: Database; keyring: Keyring; graphs: DagGraphs; logs: LogStore };

export const alertSources = ({ config, db, keyring, graphs, logs }: Input): AlertSources => ({
  db,
  keyring,
  graphs,
  logs,
  masks: createReaderMasks({ db, keyring }),
  carriers: {
    post: createPost({ allowsPrivate: config.alerts.allowPrivateAddresses }),
    sendMail: createSendMail({ allowsPrivate: config.alerts.allowPrivateAddresses }),
  },
  baseUrl: config.server.baseUrl,
});

export const createAlerts = (input: Input & { processId: string; log: Logger }): AlertSender =>
  createAlertSender({ ...alertSources(input), processId: input.processId, log: input.log });
