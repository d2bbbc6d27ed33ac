// The control plane's end of one message, and nothing else of it: answers `Finish` at once. A process of its own, as there.

import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Agent, CHANNEL_OPTIONS } from '@svc/proto/agent-service.ts';
import type { AgentHandlers } from '@svc/proto/agent-service.ts';

const server = new Server(CHANNEL_OPTIONS);
const handlers: Pick<AgentHandlers, 'Finish'> = {
  Finish: (_call, respond) => respond(null, { recorded: true, log_length: 0 }),
};
server.addService(Agent.service, { ...handlers });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send?.({ port });
});
process.once('disconnect', () => process.exit(0));
