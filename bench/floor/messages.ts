/** One message to the control plane and its answer, between two processes that have nothing else to do. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Metadata, credentials } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS, callUnary } from '@svc/proto/agent-service.ts';

export type Messages = { once(): Promise<void>; close(): void };

export async function startMessages(): Promise<Messages> {
  const child = fork(fileURLToPath(new URL('message-server.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const client = new Agent(`127.0.0.1:${port}`, credentials.createInsecure(), CHANNEL_OPTIONS);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${'x'.repeat(400)}`); // as long as a credential
  const request = {
    outcome_json: JSON.stringify({ state: 'success', endedAt: new Date().toISOString(), pid: 1 }),
    log_offset: 0,
    log_data: Buffer.alloc(200),
    worker_token: 'x'.repeat(400),
    log_goes_on: true,
  };
  return {
    once: () =>
      new Promise((resolve, reject) => {
        callUnary(client, 'Finish', { request, metadata }, (error) => (error ? reject(error) : resolve()));
      }),
    close() {
      client.close();
      child.disconnect();
    },
  };
}
