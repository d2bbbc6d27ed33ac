/** The typed service of agent.proto, and its client. */
import { makeGenericClientConstructor } from '@grpc/grpc-js';
import type { CallOptions, ClientUnaryCall, Metadata, requestCallback } from '@grpc/grpc-js';
import type { MethodDefinition } from '@grpc/proto-loader';
import type { ProtoGrpcType } from './generated/agent.ts';
import type { AgentClient, AgentDefinition } from './generated/svc/agent/v1/Agent.ts';
import { serviceDefinition } from './service-definition.ts';
import { withStrictText } from './strict-text.ts';

export type { AgentClient, AgentHandlers } from './generated/svc/agent/v1/Agent.ts';
export type { Assignment__Output as Assignment } from './generated/svc/agent/v1/Assignment.ts';
export type { Beat } from './generated/svc/agent/v1/Beat.ts';
export type { CallReply } from './generated/svc/agent/v1/CallReply.ts';
export type { NextAttempt } from './generated/svc/agent/v1/NextAttempt.ts';
export type { NextAttempt__Output as ReceivedNextAttempt } from './generated/svc/agent/v1/NextAttempt.ts';
export type { Order } from './generated/svc/agent/v1/Order.ts';
export type { Order__Output as ReceivedOrder } from './generated/svc/agent/v1/Order.ts';
export type { Started__Output as ReceivedStart } from './generated/svc/agent/v1/Started.ts';
export type { StartReply } from './generated/svc/agent/v1/StartReply.ts';
export type { Version } from './generated/svc/agent/v1/Version.ts';
export type { Version__Output as ReceivedVersion } from './generated/svc/agent/v1/Version.ts';

/** Extracts both messages from the definition of a method. */
type MessagesOf<D> =
  D extends MethodDefinition<infer Request, infer _Sent, infer _Received, infer Reply>
    ? { request: Request; reply: Reply }
    : never;

export type UnaryMethod = 'Exchange' | 'Join' | 'Start' | 'Heartbeat' | 'AppendLog' | 'Finish' | 'Call' | 'GetVersion';
export type RequestOf<M extends UnaryMethod> = MessagesOf<AgentDefinition[M]>['request'];
export type ReplyOf<M extends UnaryMethod> = MessagesOf<AgentDefinition[M]>['reply'];

// The definition is created at run time. Its types are generated from the same file (generated.test.ts).
export const Agent = makeGenericClientConstructor(
  serviceDefinition(),
  'svc.agent.v1.Agent',
) as unknown as ProtoGrpcType['svc']['agent']['v1']['Agent'];

for (const method of Object.values(Agent.service) as { requestDeserialize: (bytes: Buffer) => object }[]) {
  method.requestDeserialize = withStrictText(method.requestDeserialize);
}

type UnaryDefinition<M extends UnaryMethod> = {
  path: string;
  requestSerialize(request: RequestOf<M>): Buffer;
  responseDeserialize(bytes: Buffer): ReplyOf<M>;
};

const UNARY: { readonly [M in UnaryMethod]: UnaryDefinition<M> } = Agent.service;

/**
 * Calls the client's method of that name. It is typed by the name, so that a caller can choose the method at run time.
 */
export function callUnary<M extends UnaryMethod>(
  client: AgentClient,
  method: M,
  call: { request: RequestOf<M>; metadata: Metadata; options?: CallOptions },
  onReply: requestCallback<ReplyOf<M>>,
): ClientUnaryCall {
  const { path, requestSerialize, responseDeserialize } = UNARY[method];
  const { request, metadata, options = {} } = call;
  return client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, onReply);
}

/** A value pushed by a task has at most one MiB by default, but a reply may contain the values of many tasks. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Options for both ends of the channel. Pings detect a peer that is gone without closing, such as a machine without
 * power.
 */
export const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
} as const;
