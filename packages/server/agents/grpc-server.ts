/** The listener of the agent RPC: plaintext for development, TLS when a certificate is configured. */
import type { SecureContextOptions } from 'node:tls';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServerInterceptor } from '@grpc/grpc-js';
import { CHANNEL_OPTIONS } from '@svc/proto/agent-service.ts';
import type { Agent, AgentHandlers } from '@svc/proto/agent-service.ts';
import { parseAddress } from '../config/address.ts';
import type { CertificatePair } from '../tls/certificate-pair.ts';
import type { WatchedPair } from '../tls/watched-pair.ts';

export type GrpcServer = { readonly host: string; readonly port: number; close(): Promise<void> };

/** How long calls in flight may take to end when the server stops. */
const CLOSE_GRACE_MS = 3_000;
/** How long connections may take to close after that. One whose client leaves its half open would never close. */
const CLOSE_CUT_MS = 1_000;

export async function startGrpcServer(input: {
  address: string;
  /** Null: plaintext. */
  tls: Pick<WatchedPair, 'current' | 'onChange'> | null;
  /** Handles every call before its message is read. */
  interceptor: ServerInterceptor;
  service: typeof Agent.service;
  handlers: AgentHandlers;
}): Promise<GrpcServer> {
  const { host, port } = parseAddress(input.address) ?? { host: '127.0.0.1', port: 0 };
  const server = new Server({ ...CHANNEL_OPTIONS, interceptors: [input.interceptor] });
  server.addService(input.service, input.handlers);
  const bound = await bind(server, `${bracketed(host || '0.0.0.0')}:${port}`, credentialsOf(input.tls)).catch(
    (error: Error) => {
      throw new Error(
        `server.grpc_addr: cannot listen on ${input.address}: ${error.message}: stop what listens there, or set another address`,
        { cause: error },
      );
    },
  );
  return {
    host: host || '0.0.0.0',
    port: bound,
    close: () =>
      new Promise((resolve) => {
        let cut = setTimeout(() => {
          server.forceShutdown();
          cut = setTimeout(resolve, CLOSE_CUT_MS);
        }, CLOSE_GRACE_MS);
        server.tryShutdown(() => {
          clearTimeout(cut);
          resolve();
        });
      }),
  };
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const bind = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });

const contextOf = ({ cert, key }: CertificatePair): SecureContextOptions => ({ cert, key, minVersion: 'TLSv1.2' });

/** The library's own credentials keep the first certificate. */
class RenewableCredentials extends ServerCredentials {
  constructor(pair: CertificatePair) {
    super({ requestCert: false }, contextOf(pair));
  }

  renew(pair: CertificatePair): void {
    this.updateSecureContextOptions(contextOf(pair));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

function credentialsOf(tls: Parameters<typeof startGrpcServer>[0]['tls']): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const credentials = new RenewableCredentials(tls.current());
  tls.onChange((pair) => credentials.renew(pair));
  return credentials;
}
