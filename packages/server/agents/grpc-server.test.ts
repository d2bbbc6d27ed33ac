import { once } from 'node:events';
import { connect } from 'node:net';
import { ServerInterceptingCall } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import type { AgentHandlers } from '@svc/proto/agent-service.ts';
import { startGrpcServer } from './grpc-server.ts';

/** The preface of a client of HTTP/2, and settings that set nothing. */
const HELLO = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

it('a client that never closes its half of a connection does not hold up the stop of the service', async () => {
  const server = await startGrpcServer({
    address: '127.0.0.1:0',
    tls: null,
    interceptor: (_method, call) => new ServerInterceptingCall(call),
    service: Agent.service,
    handlers: {} as AgentHandlers, // no call is made
  });
  const socket = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true });
  try {
    const ended = once(socket, 'end');
    socket.write(HELLO);
    await once(socket, 'data');
    socket.resume();
    await server.close();
    await ended;
    expect(socket.writable).toBe(true);
  } finally {
    socket.destroy();
  }
});
