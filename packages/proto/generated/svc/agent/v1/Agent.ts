// Original file: agent.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AppendLogReply as _svc_agent_v1_AppendLogReply, AppendLogReply__Output as _svc_agent_v1_AppendLogReply__Output } from '../../../svc/agent/v1/AppendLogReply.ts';
import type { AppendLogRequest as _svc_agent_v1_AppendLogRequest, AppendLogRequest__Output as _svc_agent_v1_AppendLogRequest__Output } from '../../../svc/agent/v1/AppendLogRequest.ts';
import type { CallReply as _svc_agent_v1_CallReply, CallReply__Output as _svc_agent_v1_CallReply__Output } from '../../../svc/agent/v1/CallReply.ts';
import type { CallRequest as _svc_agent_v1_CallRequest, CallRequest__Output as _svc_agent_v1_CallRequest__Output } from '../../../svc/agent/v1/CallRequest.ts';
import type { ExchangeReply as _svc_agent_v1_ExchangeReply, ExchangeReply__Output as _svc_agent_v1_ExchangeReply__Output } from '../../../svc/agent/v1/ExchangeReply.ts';
import type { ExchangeRequest as _svc_agent_v1_ExchangeRequest, ExchangeRequest__Output as _svc_agent_v1_ExchangeRequest__Output } from '../../../svc/agent/v1/ExchangeRequest.ts';
import type { FinishReply as _svc_agent_v1_FinishReply, FinishReply__Output as _svc_agent_v1_FinishReply__Output } from '../../../svc/agent/v1/FinishReply.ts';
import type { FinishRequest as _svc_agent_v1_FinishRequest, FinishRequest__Output as _svc_agent_v1_FinishRequest__Output } from '../../../svc/agent/v1/FinishRequest.ts';
import type { GetVersionRequest as _svc_agent_v1_GetVersionRequest, GetVersionRequest__Output as _svc_agent_v1_GetVersionRequest__Output } from '../../../svc/agent/v1/GetVersionRequest.ts';
import type { HeartbeatReply as _svc_agent_v1_HeartbeatReply, HeartbeatReply__Output as _svc_agent_v1_HeartbeatReply__Output } from '../../../svc/agent/v1/HeartbeatReply.ts';
import type { HeartbeatRequest as _svc_agent_v1_HeartbeatRequest, HeartbeatRequest__Output as _svc_agent_v1_HeartbeatRequest__Output } from '../../../svc/agent/v1/HeartbeatRequest.ts';
import type { JoinReply as _svc_agent_v1_JoinReply, JoinReply__Output as _svc_agent_v1_JoinReply__Output } from '../../../svc/agent/v1/JoinReply.ts';
import type { JoinRequest as _svc_agent_v1_JoinRequest, JoinRequest__Output as _svc_agent_v1_JoinRequest__Output } from '../../../svc/agent/v1/JoinRequest.ts';
import type { Order as _svc_agent_v1_Order, Order__Output as _svc_agent_v1_Order__Output } from '../../../svc/agent/v1/Order.ts';
import type { StartReply as _svc_agent_v1_StartReply, StartReply__Output as _svc_agent_v1_StartReply__Output } from '../../../svc/agent/v1/StartReply.ts';
import type { StartRequest as _svc_agent_v1_StartRequest, StartRequest__Output as _svc_agent_v1_StartRequest__Output } from '../../../svc/agent/v1/StartRequest.ts';
import type { Version as _svc_agent_v1_Version, Version__Output as _svc_agent_v1_Version__Output } from '../../../svc/agent/v1/Version.ts';
import type { WorkRequest as _svc_agent_v1_WorkRequest, WorkRequest__Output as _svc_agent_v1_WorkRequest__Output } from '../../../svc/agent/v1/WorkRequest.ts';

export interface AgentClient extends grpc.Client {
  /**
   * Idempotent by offset: bytes that are there already are skipped. Refused when the attempt is over.
   */
  AppendLog(argument: _svc_agent_v1_AppendLogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  AppendLog(argument: _svc_agent_v1_AppendLogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  AppendLog(argument: _svc_agent_v1_AppendLogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  AppendLog(argument: _svc_agent_v1_AppendLogRequest, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  /**
   * Idempotent by offset: bytes that are there already are skipped. Refused when the attempt is over.
   */
  appendLog(argument: _svc_agent_v1_AppendLogRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  appendLog(argument: _svc_agent_v1_AppendLogRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  appendLog(argument: _svc_agent_v1_AppendLogRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  appendLog(argument: _svc_agent_v1_AppendLogRequest, callback: grpc.requestCallback<_svc_agent_v1_AppendLogReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * What a running task asks for: values of other tasks, variables, connections, runs of other DAGs.
   */
  Call(argument: _svc_agent_v1_CallRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  Call(argument: _svc_agent_v1_CallRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  Call(argument: _svc_agent_v1_CallRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  Call(argument: _svc_agent_v1_CallRequest, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  /**
   * What a running task asks for: values of other tasks, variables, connections, runs of other DAGs.
   */
  call(argument: _svc_agent_v1_CallRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  call(argument: _svc_agent_v1_CallRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  call(argument: _svc_agent_v1_CallRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  call(argument: _svc_agent_v1_CallRequest, callback: grpc.requestCallback<_svc_agent_v1_CallReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * With a token that the cluster gave to a pod (audience svc-agent) in place of a credential of ours: once, for the
   * credential of the attempt that the pod was made for, or of the worker that it is.
   */
  Exchange(argument: _svc_agent_v1_ExchangeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  Exchange(argument: _svc_agent_v1_ExchangeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  Exchange(argument: _svc_agent_v1_ExchangeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  Exchange(argument: _svc_agent_v1_ExchangeRequest, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  /**
   * With a token that the cluster gave to a pod (audience svc-agent) in place of a credential of ours: once, for the
   * credential of the attempt that the pod was made for, or of the worker that it is.
   */
  exchange(argument: _svc_agent_v1_ExchangeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  exchange(argument: _svc_agent_v1_ExchangeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  exchange(argument: _svc_agent_v1_ExchangeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  exchange(argument: _svc_agent_v1_ExchangeRequest, callback: grpc.requestCallback<_svc_agent_v1_ExchangeReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * The outcome, and what is left of the log.
   */
  Finish(argument: _svc_agent_v1_FinishRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  Finish(argument: _svc_agent_v1_FinishRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  Finish(argument: _svc_agent_v1_FinishRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  Finish(argument: _svc_agent_v1_FinishRequest, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  /**
   * The outcome, and what is left of the log.
   */
  finish(argument: _svc_agent_v1_FinishRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  finish(argument: _svc_agent_v1_FinishRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  finish(argument: _svc_agent_v1_FinishRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  finish(argument: _svc_agent_v1_FinishRequest, callback: grpc.requestCallback<_svc_agent_v1_FinishReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * The DAG version the attempt runs, or that the worker serves. The same for all its attempts, so agents keep it.
   */
  GetVersion(argument: _svc_agent_v1_GetVersionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  GetVersion(argument: _svc_agent_v1_GetVersionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  GetVersion(argument: _svc_agent_v1_GetVersionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  GetVersion(argument: _svc_agent_v1_GetVersionRequest, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  /**
   * The DAG version the attempt runs, or that the worker serves. The same for all its attempts, so agents keep it.
   */
  getVersion(argument: _svc_agent_v1_GetVersionRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  getVersion(argument: _svc_agent_v1_GetVersionRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  getVersion(argument: _svc_agent_v1_GetVersionRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  getVersion(argument: _svc_agent_v1_GetVersionRequest, callback: grpc.requestCallback<_svc_agent_v1_Version__Output>): grpc.ClientUnaryCall;
  
  /**
   * For many attempts of a worker at once: the credential of each is in the message, and counts for itself.
   */
  Heartbeat(argument: _svc_agent_v1_HeartbeatRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  Heartbeat(argument: _svc_agent_v1_HeartbeatRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  Heartbeat(argument: _svc_agent_v1_HeartbeatRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  Heartbeat(argument: _svc_agent_v1_HeartbeatRequest, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  /**
   * For many attempts of a worker at once: the credential of each is in the message, and counts for itself.
   */
  heartbeat(argument: _svc_agent_v1_HeartbeatRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  heartbeat(argument: _svc_agent_v1_HeartbeatRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  heartbeat(argument: _svc_agent_v1_HeartbeatRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  heartbeat(argument: _svc_agent_v1_HeartbeatRequest, callback: grpc.requestCallback<_svc_agent_v1_HeartbeatReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * With a token that people have made for workers on other hosts, in place of a credential of ours: for the credential of a
   * new worker, which any process of the control plane knows by what it says.
   */
  Join(argument: _svc_agent_v1_JoinRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  Join(argument: _svc_agent_v1_JoinRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  Join(argument: _svc_agent_v1_JoinRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  Join(argument: _svc_agent_v1_JoinRequest, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  /**
   * With a token that people have made for workers on other hosts, in place of a credential of ours: for the credential of a
   * new worker, which any process of the control plane knows by what it says.
   */
  join(argument: _svc_agent_v1_JoinRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  join(argument: _svc_agent_v1_JoinRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  join(argument: _svc_agent_v1_JoinRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  join(argument: _svc_agent_v1_JoinRequest, callback: grpc.requestCallback<_svc_agent_v1_JoinReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * The attempt begins: everything it needs, or that it must not run any more.
   */
  Start(argument: _svc_agent_v1_StartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  Start(argument: _svc_agent_v1_StartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  Start(argument: _svc_agent_v1_StartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  Start(argument: _svc_agent_v1_StartRequest, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  /**
   * The attempt begins: everything it needs, or that it must not run any more.
   */
  start(argument: _svc_agent_v1_StartRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  start(argument: _svc_agent_v1_StartRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  start(argument: _svc_agent_v1_StartRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  start(argument: _svc_agent_v1_StartRequest, callback: grpc.requestCallback<_svc_agent_v1_StartReply__Output>): grpc.ClientUnaryCall;
  
  /**
   * With a worker's credential. Orders for that worker, for as long as the stream stands.
   */
  Work(argument: _svc_agent_v1_WorkRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_svc_agent_v1_Order__Output>;
  Work(argument: _svc_agent_v1_WorkRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_svc_agent_v1_Order__Output>;
  /**
   * With a worker's credential. Orders for that worker, for as long as the stream stands.
   */
  work(argument: _svc_agent_v1_WorkRequest, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_svc_agent_v1_Order__Output>;
  work(argument: _svc_agent_v1_WorkRequest, options?: grpc.CallOptions): grpc.ClientReadableStream<_svc_agent_v1_Order__Output>;
  
}

export interface AgentHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Idempotent by offset: bytes that are there already are skipped. Refused when the attempt is over.
   */
  AppendLog: grpc.handleUnaryCall<_svc_agent_v1_AppendLogRequest__Output, _svc_agent_v1_AppendLogReply>;
  
  /**
   * What a running task asks for: values of other tasks, variables, connections, runs of other DAGs.
   */
  Call: grpc.handleUnaryCall<_svc_agent_v1_CallRequest__Output, _svc_agent_v1_CallReply>;
  
  /**
   * With a token that the cluster gave to a pod (audience svc-agent) in place of a credential of ours: once, for the
   * credential of the attempt that the pod was made for, or of the worker that it is.
   */
  Exchange: grpc.handleUnaryCall<_svc_agent_v1_ExchangeRequest__Output, _svc_agent_v1_ExchangeReply>;
  
  /**
   * The outcome, and what is left of the log.
   */
  Finish: grpc.handleUnaryCall<_svc_agent_v1_FinishRequest__Output, _svc_agent_v1_FinishReply>;
  
  /**
   * The DAG version the attempt runs, or that the worker serves. The same for all its attempts, so agents keep it.
   */
  GetVersion: grpc.handleUnaryCall<_svc_agent_v1_GetVersionRequest__Output, _svc_agent_v1_Version>;
  
  /**
   * For many attempts of a worker at once: the credential of each is in the message, and counts for itself.
   */
  Heartbeat: grpc.handleUnaryCall<_svc_agent_v1_HeartbeatRequest__Output, _svc_agent_v1_HeartbeatReply>;
  
  /**
   * With a token that people have made for workers on other hosts, in place of a credential of ours: for the credential of a
   * new worker, which any process of the control plane knows by what it says.
   */
  Join: grpc.handleUnaryCall<_svc_agent_v1_JoinRequest__Output, _svc_agent_v1_JoinReply>;
  
  /**
   * The attempt begins: everything it needs, or that it must not run any more.
   */
  Start: grpc.handleUnaryCall<_svc_agent_v1_StartRequest__Output, _svc_agent_v1_StartReply>;
  
  /**
   * With a worker's credential. Orders for that worker, for as long as the stream stands.
   */
  Work: grpc.handleServerStreamingCall<_svc_agent_v1_WorkRequest__Output, _svc_agent_v1_Order>;
  
}

export interface AgentDefinition extends grpc.ServiceDefinition {
  AppendLog: MethodDefinition<_svc_agent_v1_AppendLogRequest, _svc_agent_v1_AppendLogReply, _svc_agent_v1_AppendLogRequest__Output, _svc_agent_v1_AppendLogReply__Output>
  Call: MethodDefinition<_svc_agent_v1_CallRequest, _svc_agent_v1_CallReply, _svc_agent_v1_CallRequest__Output, _svc_agent_v1_CallReply__Output>
  Exchange: MethodDefinition<_svc_agent_v1_ExchangeRequest, _svc_agent_v1_ExchangeReply, _svc_agent_v1_ExchangeRequest__Output, _svc_agent_v1_ExchangeReply__Output>
  Finish: MethodDefinition<_svc_agent_v1_FinishRequest, _svc_agent_v1_FinishReply, _svc_agent_v1_FinishRequest__Output, _svc_agent_v1_FinishReply__Output>
  GetVersion: MethodDefinition<_svc_agent_v1_GetVersionRequest, _svc_agent_v1_Version, _svc_agent_v1_GetVersionRequest__Output, _svc_agent_v1_Version__Output>
  Heartbeat: MethodDefinition<_svc_agent_v1_HeartbeatRequest, _svc_agent_v1_HeartbeatReply, _svc_agent_v1_HeartbeatRequest__Output, _svc_agent_v1_HeartbeatReply__Output>
  Join: MethodDefinition<_svc_agent_v1_JoinRequest, _svc_agent_v1_JoinReply, _svc_agent_v1_JoinRequest__Output, _svc_agent_v1_JoinReply__Output>
  Start: MethodDefinition<_svc_agent_v1_StartRequest, _svc_agent_v1_StartReply, _svc_agent_v1_StartRequest__Output, _svc_agent_v1_StartReply__Output>
  Work: MethodDefinition<_svc_agent_v1_WorkRequest, _svc_agent_v1_Order, _svc_agent_v1_WorkRequest__Output, _svc_agent_v1_Order__Output>
}
