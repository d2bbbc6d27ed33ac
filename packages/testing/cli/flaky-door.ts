/** A way to a server that can be shut: connections are cut and new ones refused, as while a control plane restarts. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export async function openDoor(target: string) {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let isShut = false;
  let visits = 0;
  const door = createServer((incoming) => {
    visits += 1;
    if (isShut) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(Number(port), hostname);
    for (const socket of [incoming, outgoing]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => {});
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    visits: () => visits,
    shut(): void {
      isShut = true;
      for (const socket of open) socket.destroy();
    },
    open(): void {
      isShut = false;
    },
    async close(): Promise<void> {
      for (const socket of open) socket.destroy();
      door.close();
      await once(door, 'close');
    },
  };
}
