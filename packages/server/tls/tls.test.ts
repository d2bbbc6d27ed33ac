/** Certificates of both listeners: what is refused, what is said, and that they are replaced while the process runs. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { get, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import type { CertificateFiles } from '@svc/testing/tls/certificates.ts';
import { loadConfig } from '../config/load.ts';
import { startGrpcServer } from '../agents/grpc-server.ts';
import { createTlsServer } from '../http/tls-listener.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { checkTlsFiles } from './tls-files.ts';
import { watchPair } from './watched-pair.ts';
import type { WatchedPair } from './watched-pair.ts';
import { Agent } from '@svc/proto/agent-service.ts';

let folder: string;
let authority: CertificateFiles;
let [first, second, other]: CertificateFiles[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  authority = makeAuthority(folder);
  [first, second, other] = ['first', 'second', 'other'].map((name) => makeCertificate(folder, authority, { name }));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Files in use, to be replaced. */
function place(name: string, from: CertificateFiles | undefined): CertificateFiles {
  const files = { cert: join(folder, `${name}-in-use.crt`), key: join(folder, `${name}-in-use.key`) };
  replace(files, from);
  return files;
}
function replace(files: CertificateFiles, from: CertificateFiles | undefined): void {
  writeFileSync(files.cert, readFileSync(from?.cert ?? ''));
  writeFileSync(files.key, readFileSync(from?.key ?? ''));
}

type Line = { level: string; message: string };
function watch(files: CertificateFiles): { pair: WatchedPair; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (_details: object, message: string) => void lines.push({ level, message });
  const log = { info: at('info'), warn: at('warn'), error: at('error') };
  const pair = watchPair({ section: 'server.http_tls', ...files }, { log, lookEveryMs: 20 });
  pair.start();
  return { pair, lines };
}

/** The name in the certificate that is shown. */
const shownAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: '127.0.0.1', ca: readFileSync(authority.cert), ALPNProtocols: ['h2', 'http/1.1'] },
      () => {
        // prettier-ignore
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      },
    ).on('error', reject);
  });

describe('files of a certificate', () => {
  const check = (cert: string, key: string, more: Record<string, string> = {}) =>
    checkTlsFiles(
      loadConfig({ env: {}, flags: { 'server.http-tls.cert': cert, 'server.http-tls.key': key, ...more } }).config,
    );

  it('are refused in words that name the key: missing, no file, no certificate, no key, another key, a passphrase', () => {
    const nonsense = join(folder, 'nonsense.pem');
    writeFileSync(nonsense, 'nonsense');
    const locked = join(folder, 'locked.pem');
    writeFileSync(locked, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n');
    const { cert = '', key = '' } = first ?? {};
    const said = (...files: [string, string]) => check(...files).errors.map((each) => `${each.key}: ${each.message}`);
    expect(said(cert, key)).toEqual([]);
    expect(said('/nowhere', key)).toEqual([expect.stringMatching(/^server.http_tls.cert: .*no such file/)]);
    expect(said(cert, folder)).toEqual([expect.stringMatching(/^server.http_tls.key: .*it is a directory/)]);
    expect(said(nonsense, key)).toEqual([expect.stringMatching(/http_tls.cert: .*holds no PEM certificate/)]);
    expect(said(cert, nonsense)).toEqual([expect.stringMatching(/http_tls.key: .*holds no PEM private key/)]);
    expect(said(cert, second?.key ?? '')).toEqual([
      expect.stringMatching(/http_tls.key: .*is not the key of the certificate/),
    ]);
    expect(said(cert, locked)).toEqual([expect.stringMatching(/http_tls.key: .*passphrase: store it without/)]);
  });

  it('for agents are not looked at by a process that has no listener for them', () => {
    const flags = { 'server.grpc-tls.cert': '/nowhere', 'server.grpc-tls.key': '/nowhere' };
    expect(check('', '', flags).errors).toHaveLength(1);
    expect(check('', '', { ...flags, 'server.role': 'api' }).errors).toEqual([]);
  });
});

describe('the HTTP listener', () => {
  it('speaks TLS 1.2 and newer, shows the certificate of the day, keeps open connections, and tells plain HTTP what to write', async () => {
    const files = place('http', first);
    const { pair, lines } = watch(files);
    const server = createTlsServer(pair, (_request, response) => void response.end('hello'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    try {
      const ca = readFileSync(authority.cert);
      const agent = new (await import('node:https')).Agent({ keepAlive: true, ca });
      const ask = () =>
        new Promise<string>((resolve, reject) => {
          get({ port, host: '127.0.0.1', agent }, (response) => {
            response.on('data', (chunk: Buffer) => resolve(chunk.toString()));
            response.resume();
          }).on('error', reject);
        });
      expect(await ask()).toBe('hello');
      expect(await shownAt(port)).toBe('first');
      replace(files, second);
      await eventually(async () => (await shownAt(port)) === 'second');
      expect(await ask()).toBe('hello'); // on the connection that was open
      agent.destroy();

      const plain = await fetch(`http://127.0.0.1:${port}/api/v2/version`);
      expect([plain.status, plain.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
      expect(await plain.json()).toMatchObject({ detail: expect.stringContaining('write https://') as string });

      const old = new Promise((resolve) => {
        request({ port, host: '127.0.0.1', ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }, () => resolve('answered'))
          .on('error', () => resolve('refused'))
          .end();
      });
      expect(await old).toBe('refused');
      const agreed = (protocols: string[]) =>
        new Promise<string | false | null>((resolve) => {
          const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: protocols }, () => {
            resolve(socket.alpnProtocol);
            socket.destroy();
          }).on('error', () => resolve('refused'));
        });
      expect(await agreed(['h2', 'http/1.1'])).toBe('http/1.1');
      expect(await agreed(['h2'])).toBe('refused'); // in the handshake, and not by an answer that is no HTTP/2
      expect(lines.map(({ message }) => message)).toEqual(['server.http_tls: a new certificate is in use']);
    } finally {
      pair.stop();
      server.close();
    }
  });

  it('goes on with the old certificate when the new files are no pair, says so once, and takes the next that is one', async () => {
    const files = place('broken', first);
    const { pair, lines } = watch(files);
    const metrics = createMetrics({ version: 'test' });
    metrics.watchCertificate('http', pair);
    const failing = async () => /reload_failing\{listener="http"\} (\d)/.exec(await metrics.exposition())?.[1];
    expect(await failing()).toBe('0');
    writeFileSync(files.cert, readFileSync(second?.cert ?? '')); // without its key
    await eventually(async () => (await failing()) === '1');
    expect(pair.current().cert).toEqual(readFileSync(first?.cert ?? ''));
    const failingMeanwhile = new Set<boolean>();
    const watching = setInterval(() => failingMeanwhile.add(pair.isFailing()), 1);
    rmSync(files.key);
    await eventually(() => lines.length === 2).finally(() => clearInterval(watching)); // another trouble
    expect(failingMeanwhile).toEqual(new Set([true])); // which is no end of the first
    replace(files, other);
    await eventually(async () => (await failing()) === '0');
    pair.stop();
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error', 'info']);
    expect(pair.current().cert).toEqual(readFileSync(other?.cert ?? ''));
    expect(await metrics.exposition()).toContain(
      `svc_tls_certificate_expiry_timestamp_seconds{listener="http"} ${pair.current().expiresAt / 1_000}`,
    );
  });

  it('sees files that Kubernetes replaces: links through a folder that is swapped', async () => {
    const mount = join(folder, 'mount');
    mkdirSync(mount);
    const put = (name: string, from: CertificateFiles | undefined): void => {
      mkdirSync(join(mount, name));
      writeFileSync(join(mount, name, 'tls.crt'), readFileSync(from?.cert ?? ''));
      writeFileSync(join(mount, name, 'tls.key'), readFileSync(from?.key ?? ''));
      symlinkSync(name, join(mount, '..data_tmp'));
      renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    put('..one', first);
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(mount, name));
    const { pair } = watch({ cert: join(mount, 'tls.crt'), key: join(mount, 'tls.key') });
    put('..two', second);
    await eventually(() => pair.current().cert.equals(readFileSync(second?.cert ?? '')));
    pair.stop();
  });

  it('says in time that a certificate expires', () => {
    const soon = makeCertificate(folder, authority, { name: 'soon', days: 3 });
    const { pair, lines } = watch(soon);
    pair.stop();
    expect(lines).toEqual([{ level: 'warn', message: expect.stringContaining('expires soon') as string }]);
  });
});

describe('the listener for agents', () => {
  it('shows the certificate of the day', async () => {
    const files = place('grpc', first);
    const { pair } = watch(files);
    const server = await startGrpcServer({
      address: '127.0.0.1:0',
      tls: pair,
      interceptor: (_method, call) => call as never,
      service: Agent.service,
      handlers: {} as never,
    });
    try {
      expect(await shownAt(server.port)).toBe('first');
      replace(files, second);
      await eventually(async () => (await shownAt(server.port)) === 'second');
    } finally {
      pair.stop();
      await server.close();
    }
  });
});
