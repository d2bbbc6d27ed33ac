/** Bytes that are no proper HTTP. The process must live through all of it, and answer what can be answered. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { openSocket, sendBytes } from '@svc/testing/server/raw-http.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.close());
afterEach(async () => {
  // Not ready for a moment is a database on a busy machine.
  await eventually(async () => {
    const { status } = await server.call('/readyz');
    if (status !== 200) throw new Error(`the process did not live through it: /readyz says ${status}`);
  });
});

const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
const POST = 'POST /auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

/** Status line and body of the first answer among the bytes. */
function firstAnswer(bytes: string): { status: number; type: string | undefined; problem: Record<string, unknown> } {
  const [head = '', body = ''] = bytes.split('\r\n\r\n', 2);
  const type = /^content-type: (.*)$/im.exec(head)?.[1];
  const isProblem = type === 'application/problem+json';
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0),
    type,
    problem: isProblem ? (JSON.parse(body) as Record<string, unknown>) : {},
  };
}

describe('a request that is no HTTP', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a method nobody knows', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['another protocol', 'GET / ICE/1.0\r\n\r\n'],
    ['HTTP/2 without asking first', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303'.padEnd(400, '0'), 'hex')],
    ['a header without a colon', `${GET}nonsense\r\n\r\n`],
    ['a header name with a blank', `${GET}a b: c\r\n\r\n`],
    ['a NUL in a header', `${GET}a: b\u0000c\r\n\r\n`],
    ['a folded header', `${GET}a: b\r\n c\r\n\r\n`],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n`],
    ['a length that is no number', `${POST}Content-Length: 1e3\r\n\r\n`],
    ['two lengths', `${POST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    [
      'a length and chunks, as smugglers send',
      `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['chunks of an impossible size', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a transfer coding nobody knows', `${POST}Transfer-Encoding: gzip, zz\r\n\r\n`],
    ['a line break in the path', 'GET /a\rb HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('gets 400 for %s, as a problem, and nothing more', async (_what, bytes) => {
    const answers = await sendBytes(server.url, bytes);
    const { status, type, problem } = firstAnswer(answers);
    expect([status, type]).toEqual([400, 'application/problem+json']);
    expect(Object.keys(problem).toSorted()).toEqual(['detail', 'instance', 'status', 'title', 'type']);
    expect(answers.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it('gets 400 without a Host, which the standard demands', async () => {
    expect(firstAnswer(await sendBytes(server.url, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).status).toBe(
      400,
    );
  });

  it('gets 431 for headers without end', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `h${index}: ${'x'.repeat(50)}\r\n`).join('');
    for (const headers of [`a: ${'x'.repeat(100_000)}\r\n`, many]) {
      const { status, problem } = firstAnswer(await sendBytes(server.url, `${GET}${headers}\r\n`));
      expect([status, problem['type']]).toEqual([431, 'urn:svc:error:headers_too_large']);
    }
  });

  it('gets an error for a path without end', async () => {
    const { status } = firstAnswer(
      await sendBytes(server.url, `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    expect([400, 414, 431]).toContain(status);
  });
});

describe('a request that HTTP allows', () => {
  it('is answered over HTTP/1.1 when it offers HTTP/2', async () => {
    const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n';
    const socket = await openSocket(server.url);
    socket.write(`${GET}${offer}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  });

  it.each([
    ['thousands of small cookies', 'a=b; '.repeat(2_900)],
    ['one cookie as large as all headers may be', `_token=${'x'.repeat(15_000)}`],
    ['the cookie of a session a thousand times', '_token=x; '.repeat(1_500)],
    ['a cookie of quotes, escapes and equal signs', `_token=${'"%=\\'.repeat(3_500)}`],
  ])('opens no session and fails nothing with %s', async (_what, cookie) => {
    const answer = await server.call('/api/v2/dags', { headers: { cookie } });
    expect(answer.status).toBe(401);
  });
});

describe('a client that does not finish', () => {
  it('is let go when it hangs up in the middle, in headers and in body', async () => {
    for (const bytes of [
      'GET /hea',
      GET,
      `${POST}Content-Length: 100\r\n\r\n{"user`,
      `${POST}Transfer-Encoding: chunked\r\n\r\n5\r\n{"u`,
    ]) {
      const socket = await openSocket(server.url);
      socket.on('error', () => {});
      socket.write(bytes);
      await sleep(20);
      socket.resetAndDestroy();
    }
  });

  it('does not keep others waiting while it dribbles', async () => {
    const slow = await Promise.all(Array.from({ length: 50 }, () => openSocket(server.url)));
    for (const socket of slow) {
      socket.on('error', () => {});
      socket.write(`${POST}Content-Length: 1000\r\n\r\n{`);
    }
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.call('/healthz')));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    for (const socket of slow) socket.destroy();
  });

  it('does not lose the process by leaving before its answer', async () => {
    const leaving = Array.from({ length: 20 }, async () => {
      const socket = await openSocket(server.url);
      socket.on('error', () => {});
      const body = JSON.stringify({ username: 'nobody@example.com', password: 'x' });
      socket.write(`${POST}Content-Length: ${body.length}\r\n\r\n${body}`);
      socket.destroy();
    });
    await Promise.all(leaving);
  });
});

describe('the log of broken requests', () => {
  it('does not carry what came in as garbage', async () => {
    await sendBytes(server.url, 'GET / HTTP/1.1\r\nAuthorization: Bearer in-the-garbage\u0000\r\n\r\n');
    expect(server.logLines.join('')).not.toContain('in-the-garbage');
  });
});
