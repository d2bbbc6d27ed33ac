/**
 * Stands between an agent and its control plane. When it is told to, it still carries what the agent says, but nothing of
 * what it is answered, and then cuts the line: calls have taken effect whose answers nobody got.
 */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type AnswerDroppingProxy = {
  /** `host:port`. */
  readonly address: string;
  /** Resolves when the line is cut. Answers with how many bytes were not delivered. */
  dropAnswers(ms: number): Promise<number>;
  close(): void;
};

export async function startProxy(targetPort: number): Promise<AnswerDroppingProxy> {
  const sockets = new Set<Socket>();
  let isDropping = false;
  let dropped = 0;

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {}); // its close says the rest
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    client.on('data', (chunk) => void upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (isDropping) dropped += chunk.length;
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async dropAnswers(ms) {
      const before = dropped;
      isDropping = true;
      await sleep(ms);
      for (const socket of sockets) socket.destroy();
      isDropping = false;
      return dropped - before;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
