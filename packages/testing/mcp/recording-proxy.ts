/** Stands between a tool server and the control plane and writes down what passes. */
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Passed = { method: string; path: string; authorization: string | undefined };

export async function startRecordingProxy(target: string) {
  const { hostname, port } = new URL(target);
  const passed: Passed[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    passed.push({ method, path, authorization: headers.authorization });
    const forwarded = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
