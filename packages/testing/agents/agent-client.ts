/** Calls the agent service as anybody who reaches its port could. */
import { Metadata, credentials, status } from '@grpc/grpc-js';
import type { ChannelCredentials, ServiceError } from '@grpc/grpc-js';
import { Agent, callUnary } from '@svc/proto/agent-service.ts';
import type { ReplyOf, RequestOf, UnaryMethod } from '@svc/proto/agent-service.ts';

export type AgentTestClient = ReturnType<typeof connectAgentClient>;

export function connectAgentClient(address: string, security: ChannelCredentials = credentials.createInsecure()) {
  const client = new Agent(address, security);

  function call<M extends UnaryMethod>(method: M, token: string, request: RequestOf<M>): Promise<ReplyOf<M>> {
    const metadata = new Metadata();
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    return new Promise((resolve, reject) => {
      callUnary(client, method, { request, metadata }, (error, reply) =>
        error || !reply ? reject(error) : resolve(reply),
      );
    });
  }

  return {
    call,
    /** The status a call that must fail fails with, by name. */
    async refusal<M extends UnaryMethod>(method: M, token: string, request: RequestOf<M>): Promise<string> {
      const answer = await call(method, token, request).then(
        () => undefined,
        (error: ServiceError) => status[error.code],
      );
      if (answer === undefined) throw new Error(`${method} was answered`);
      return answer;
    },
    /** A method that tasks call; its value parsed. */
    async ask<T>(token: string, name: string, params: object, requestId = '1'): Promise<T> {
      const request = { method: name, params_json: JSON.stringify(params), request_id: requestId };
      return JSON.parse((await call('Call', token, request)).value_json) as T;
    },
    refusedAsk(token: string, name: string, params: object): Promise<string> {
      return this.refusal('Call', token, { method: name, params_json: JSON.stringify(params), request_id: '1' });
    },
    /** The status and the words that parameters are refused with, sent as this text. */
    async refusedText(token: string, name: string, json: string): Promise<string> {
      return call('Call', token, { method: name, params_json: json, request_id: '1' }).then(
        () => 'taken',
        (error: ServiceError) => `${status[error.code]}: ${error.details}`,
      );
    },
    /** Whatever comes of it: the value as JSON, or the status. */
    async answer(token: string, name: string, params: object, requestId = '1'): Promise<string> {
      const request = { method: name, params_json: JSON.stringify(params), request_id: requestId };
      return call('Call', token, request).then(
        ({ value_json: json }) => json,
        (error: ServiceError) => status[error.code],
      );
    },
    /** How a worker's stream ends that must not be. */
    workRefusal(token: string): Promise<string> {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      const stream = client.Work({ hostname: 'test', pid: 1, version: '0' }, metadata);
      return new Promise((resolve, reject) => {
        stream.on('error', (error: ServiceError) => resolve(status[error.code]));
        stream.on('data', () => reject(new Error('the stream was opened')));
      });
    },
    close: () => client.close(),
  };
}
