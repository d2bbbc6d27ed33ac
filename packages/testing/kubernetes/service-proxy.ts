/**
 * What a Service of the cluster is to several control planes: one address, and whoever lives answers. The line can also be
 * cut: then nothing is refused and nothing arrives, as when packets get lost.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type ServiceProxy = {
  /** `host:port`. */
  readonly address: string;
  /** Nothing passes for so long; then what was on its way arrives. */
  cutFor(ms: number): Promise<void>;
  close(): void;
};

export async function startServiceProxy(input: { host: string; ports: readonly number[] }): Promise<ServiceProxy> {
  const { host, ports } = input;
  const sockets = new Set<Socket>();
  let cut: Promise<void> | undefined;
  let next = 0;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {}); // its close says the rest
    socket.on('close', () => sockets.delete(socket));
    if (cut) socket.pause();
  }

  async function reach(): Promise<Socket | undefined> {
    for (let time = 0; time < ports.length; time += 1) {
      const upstream = connect(ports[(next += 1) % ports.length] ?? 0, host);
      const isThere = await new Promise<boolean>((resolve) => {
        upstream.once('connect', () => resolve(true));
        upstream.once('error', () => resolve(false));
      });
      if (isThere) return upstream;
    }
    return undefined;
  }

  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client);
    void (async () => {
      await cut;
      const upstream = await reach();
      if (!upstream || client.destroyed) {
        upstream?.destroy();
        return client.destroy();
      }
      keep(upstream);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on('data', (chunk) => void to.write(chunk));
        from.on('close', () => to.destroy());
        if (!cut) from.resume();
      }
      return undefined;
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    async cutFor(ms) {
      cut = sleep(ms);
      for (const socket of sockets) socket.pause();
      await cut;
      cut = undefined;
      for (const socket of sockets) socket.resume();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
