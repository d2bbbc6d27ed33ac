/** One message to the control plane and its answer, between two otherwise idle processes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Metadata, credentials } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS, callUnary } from '@svc/proto/agent-service.ts';
import { openLine } from '@svc/proto/line.ts';

export type Messages = {
  /** Uses the direct connection between a control plane and the agent that it has started. */
  once(): Promise<void>;
  /** Uses the network, as agents on other hosts do. */
  onceByNetwork(): Promise<void>;
  close(): void;
};

/** A token with the length of a credential. */
const TOKEN = 'x'.repeat(400);

export async function startMessages(): Promise<Messages> {
  const child = fork(fileURLToPath(new URL('message-server.ts', import.meta.url)), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const client = new Agent(`127.0.0.1:${port}`, credentials.createInsecure(), CHANNEL_OPTIONS);
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${TOKEN}`);
  const request = {
    outcome_json: JSON.stringify({ state: 'success', endedAt: new Date().toISOString(), pid: 1 }),
    log_offset: 0,
    log_data: Buffer.alloc(200),
    worker_token: TOKEN,
    log_goes_on: true,
  };
  const { requestSerialize, responseDeserialize } = Agent.service.Finish;
  let onAnswer: (() => void) | undefined;
  const line = openLine(child.stdio[4] as unknown as Duplex, {
    frame(frame) {
      if (frame.kind === 'answer') responseDeserialize(Buffer.from(frame.message));
      onAnswer?.();
    },
    end: () => {},
  });
  return {
    once: () =>
      new Promise((resolve) => {
        onAnswer = resolve;
        line.send({ kind: 'call', id: 1, method: 'Finish', token: TOKEN, message: requestSerialize(request) });
      }),
    onceByNetwork: () =>
      new Promise((resolve, reject) => {
        callUnary(client, 'Finish', { request, metadata }, (error) => (error ? reject(error) : resolve()));
      }),
    close() {
      client.close();
      line.end();
      child.disconnect();
    },
  };
}
