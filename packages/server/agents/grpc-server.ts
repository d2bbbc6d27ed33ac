/** The listener of the agent RPC: plaintext for development, TLS when a certificate is configured. */
import { readFileSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { ServerInterceptor } from '@grpc/grpc-js';
import { CHANNEL_OPTIONS } from '@svc/proto/agent-service.ts';
import type { Agent, AgentHandlers } from '@svc/proto/agent-service.ts';
import { parseAddress } from '../config/address.ts';

/** Paths of PEM files. */
export type GrpcTls = { cert: string; key: string };

export type GrpcServer = { readonly host: string; readonly port: number; close(): Promise<void> };

/** How long calls in flight may take to end when the server stops. */
const CLOSE_GRACE_MS = 3_000;

export async function startGrpcServer(input: {
  address: string;
  tls: GrpcTls | null;
  /** Sees every call before its message is read. */
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
        const cut = setTimeout(() => server.forceShutdown(), CLOSE_GRACE_MS);
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

function credentialsOf(tls: GrpcTls | null): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = {
    cert_chain: read('server.grpc_tls.cert', tls.cert),
    private_key: read('server.grpc_tls.key', tls.key),
  };
  return ServerCredentials.createSsl(null, [pair]);
}

function read(key: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${key}: ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
