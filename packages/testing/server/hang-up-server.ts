import { once } from 'node:events';
import { createServer } from 'node:net';

/** Takes the place of a server that is away and hangs up on everybody: shows that somebody has tried, and in vain. */
export async function startHangUpServer(port = 0): Promise<{ port: number; calls(): number; close(): Promise<void> }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.on('error', () => {}).destroy();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    calls: () => calls,
    async close() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
