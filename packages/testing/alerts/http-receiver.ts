/** A receiver of alerts on loopback: it keeps every request, and answers as the test says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  text: string;
  at: number;
};
export type Answer = { status: number; body?: unknown };

export type HttpReceiver = {
  url: string;
  received: Received[];
  /** Decides the answer of each request. It may wait. */
  answerWith(answer: (request: Received) => Answer | Promise<Answer>): void;
  close(): Promise<void>;
};

const ok = (): Answer => ({ status: 200, body: { ok: true } });

export async function startHttpReceiver(): Promise<HttpReceiver> {
  const received: Received[] = [];
  let answer: (request: Received) => Answer | Promise<Answer> = ok;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => void (text += part));
    request.on('end', () => {
      const one: Received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
        text,
        at: Date.now(),
      };
      received.push(one);
      void Promise.resolve(answer(one)).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answerWith(next) {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
