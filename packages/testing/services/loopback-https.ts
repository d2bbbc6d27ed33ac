/** An https server on loopback whose certificate this test process trusts, as it would one of a public authority. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { freePort } from './free-port.ts';

export type Certificate = { key: string; cert: string };

let made: Certificate | undefined;

/** Of `localhost` and 127.0.0.1, made once; it is its own authority. */
export function loopbackCertificate(): Certificate {
  if (made) return made;
  const directory = mkdtempSync(join(tmpdir(), 'svc-certificate-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' });
  made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(directory, { recursive: true });
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), made.cert]);
  return made;
}

export type LoopbackHttps = {
  url: string;
  answerWith(listener: RequestListener): void;
  /** As a provider that is away: connections are refused, or made again at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

const notYet: RequestListener = (_request, response) => response.writeHead(503).end();

export async function startLoopbackHttps(): Promise<LoopbackHttps> {
  const { key, cert } = loopbackCertificate();
  let answer: RequestListener = notYet;
  const listen = (port: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
      const server = createServer({ key, cert }, (request, response) => void answer(request, response));
      server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
    });
  const port = await freePort();
  let server: ReturnType<typeof createServer> | undefined = await listen(port);
  return {
    url: `https://localhost:${port}`,
    answerWith: (listener) => {
      answer = listener;
    },
    async stop() {
      server?.closeAllConnections();
      await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
      server = undefined;
    },
    async start() {
      server ??= await listen(port);
    },
  };
}
