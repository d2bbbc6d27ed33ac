// The control plane's side of one message and nothing else. It answers `Finish` at once, over the direct connection of
// a local agent and over the network. It is a separate process, as in the product.

import { Socket } from 'node:net';
import { Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS } from '@svc/proto/agent-service.ts';
import type { AgentHandlers } from '@svc/proto/agent-service.ts';
import { createDirectLines } from '@svc/server/agents/direct-lines.ts';

const server = new Server(CHANNEL_OPTIONS);
const handlers: Pick<AgentHandlers, 'Finish'> = {
  Finish: (_call, respond) => respond(null, { recorded: true, log_length: 0 }),
};
server.addService(Agent.service, { ...handlers });
createDirectLines({
  admit: async () => new Metadata(),
  service: Agent.service,
  handlers: handlers as AgentHandlers,
  log: console as unknown as Parameters<typeof createDirectLines>[0]['log'],
}).serve(new Socket({ fd: 4, readable: true, writable: true }));
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send?.({ port });
});
process.once('disconnect', () => process.exit(0));
