/** A control plane with failed runs, a sender of alerts that the test drives, and a receiver. */
import { randomUUID } from 'node:crypto';
import { createAlerts } from '@svc/server/create-alerts.ts';
import { createDagGraphs } from '@svc/server/engine/shared/dag-graphs.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import { openKeyring } from '@svc/server/open-keyring.ts';
import { createLogger } from '@svc/server/telemetry/logger.ts';
import { createSecretRegistry } from '@svc/server/telemetry/redact.ts';
import type { AlertSender } from '@svc/server/alerts/sender.ts';
import type { TestServer } from '../server/test-server.ts';
import { startFailedRuns } from '../mcp/failed-runs.ts';
import { startHttpReceiver } from './http-receiver.ts';

export type Alerting = Awaited<ReturnType<typeof startAlerting>>;

export const SECRET_KEY = '5ec7e7'.padEnd(64, 'a1e475');

export async function startAlerting(flags: Record<string, string> = {}) {
  const world = await startFailedRuns({
    'secret-key': SECRET_KEY,
    'alerts.allow-private-addresses': 'true',
    'server.base-url': 'https://flows.example.com/svc',
    ...flags,
  });
  const receiver = await startHttpReceiver();
  const { server } = world;
  const token = await server.login();
  const sender = testSender(server);
  const post = async (path: string, body: object, as = token) => {
    const answer = await server.call(path, { method: 'POST', token: as, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.json<Record<string, unknown>>();
  };

  return {
    ...world,
    receiver,
    sender,
    token,
    post,
    /** Creates a connection, by default to the receiver. */
    connection: (id: string, fields: object = {}) =>
      post('/api/v2/connections', { connection_id: id, conn_type: 'http', host: receiver.url, ...fields }),
    rule: (name: string, fields: object = {}) =>
      post('/api/v2/alerts/rules', {
        name,
        events: ['failed', 'recovered'],
        channel: 'webhook',
        connection_id: 'hook',
        ...fields,
      }),
    async close() {
      await sender.stop();
      await receiver.close();
      await world.close();
    },
  };
}

/** A sender that does nothing until the test drains it. */
export const testSender = (server: Pick<TestServer, 'config' | 'db'>): AlertSender =>
  createAlerts({
    config: server.config,
    db: server.db,
    keyring: openKeyring(server.config),
    graphs: createDagGraphs(),
    logs: createDiskLogStore({ dir: server.config.logs.dir }),
    processId: randomUUID(),
    log: createLogger({ level: 'error', format: 'json', destination: { write() {} }, secrets: createSecretRegistry() }),
  });
