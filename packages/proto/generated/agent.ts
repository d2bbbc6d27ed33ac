import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AgentClient as _svc_agent_v1_AgentClient, AgentDefinition as _svc_agent_v1_AgentDefinition } from './svc/agent/v1/Agent.ts';
import type { AppendLogReply as _svc_agent_v1_AppendLogReply, AppendLogReply__Output as _svc_agent_v1_AppendLogReply__Output } from './svc/agent/v1/AppendLogReply.ts';
import type { AppendLogRequest as _svc_agent_v1_AppendLogRequest, AppendLogRequest__Output as _svc_agent_v1_AppendLogRequest__Output } from './svc/agent/v1/AppendLogRequest.ts';
import type { Assignment as _svc_agent_v1_Assignment, Assignment__Output as _svc_agent_v1_Assignment__Output } from './svc/agent/v1/Assignment.ts';
import type { Beat as _svc_agent_v1_Beat, Beat__Output as _svc_agent_v1_Beat__Output } from './svc/agent/v1/Beat.ts';
import type { Bundle as _svc_agent_v1_Bundle, Bundle__Output as _svc_agent_v1_Bundle__Output } from './svc/agent/v1/Bundle.ts';
import type { CallReply as _svc_agent_v1_CallReply, CallReply__Output as _svc_agent_v1_CallReply__Output } from './svc/agent/v1/CallReply.ts';
import type { CallRequest as _svc_agent_v1_CallRequest, CallRequest__Output as _svc_agent_v1_CallRequest__Output } from './svc/agent/v1/CallRequest.ts';
import type { Cancel as _svc_agent_v1_Cancel, Cancel__Output as _svc_agent_v1_Cancel__Output } from './svc/agent/v1/Cancel.ts';
import type { Drain as _svc_agent_v1_Drain, Drain__Output as _svc_agent_v1_Drain__Output } from './svc/agent/v1/Drain.ts';
import type { ExchangeReply as _svc_agent_v1_ExchangeReply, ExchangeReply__Output as _svc_agent_v1_ExchangeReply__Output } from './svc/agent/v1/ExchangeReply.ts';
import type { ExchangeRequest as _svc_agent_v1_ExchangeRequest, ExchangeRequest__Output as _svc_agent_v1_ExchangeRequest__Output } from './svc/agent/v1/ExchangeRequest.ts';
import type { FinishReply as _svc_agent_v1_FinishReply, FinishReply__Output as _svc_agent_v1_FinishReply__Output } from './svc/agent/v1/FinishReply.ts';
import type { FinishRequest as _svc_agent_v1_FinishRequest, FinishRequest__Output as _svc_agent_v1_FinishRequest__Output } from './svc/agent/v1/FinishRequest.ts';
import type { GetVersionRequest as _svc_agent_v1_GetVersionRequest, GetVersionRequest__Output as _svc_agent_v1_GetVersionRequest__Output } from './svc/agent/v1/GetVersionRequest.ts';
import type { HeartbeatReply as _svc_agent_v1_HeartbeatReply, HeartbeatReply__Output as _svc_agent_v1_HeartbeatReply__Output } from './svc/agent/v1/HeartbeatReply.ts';
import type { HeartbeatRequest as _svc_agent_v1_HeartbeatRequest, HeartbeatRequest__Output as _svc_agent_v1_HeartbeatRequest__Output } from './svc/agent/v1/HeartbeatRequest.ts';
import type { JoinReply as _svc_agent_v1_JoinReply, JoinReply__Output as _svc_agent_v1_JoinReply__Output } from './svc/agent/v1/JoinReply.ts';
import type { JoinRequest as _svc_agent_v1_JoinRequest, JoinRequest__Output as _svc_agent_v1_JoinRequest__Output } from './svc/agent/v1/JoinRequest.ts';
import type { Module as _svc_agent_v1_Module, Module__Output as _svc_agent_v1_Module__Output } from './svc/agent/v1/Module.ts';
import type { NextAttempt as _svc_agent_v1_NextAttempt, NextAttempt__Output as _svc_agent_v1_NextAttempt__Output } from './svc/agent/v1/NextAttempt.ts';
import type { Order as _svc_agent_v1_Order, Order__Output as _svc_agent_v1_Order__Output } from './svc/agent/v1/Order.ts';
import type { StartReply as _svc_agent_v1_StartReply, StartReply__Output as _svc_agent_v1_StartReply__Output } from './svc/agent/v1/StartReply.ts';
import type { StartRequest as _svc_agent_v1_StartRequest, StartRequest__Output as _svc_agent_v1_StartRequest__Output } from './svc/agent/v1/StartRequest.ts';
import type { Started as _svc_agent_v1_Started, Started__Output as _svc_agent_v1_Started__Output } from './svc/agent/v1/Started.ts';
import type { Stop as _svc_agent_v1_Stop, Stop__Output as _svc_agent_v1_Stop__Output } from './svc/agent/v1/Stop.ts';
import type { Version as _svc_agent_v1_Version, Version__Output as _svc_agent_v1_Version__Output } from './svc/agent/v1/Version.ts';
import type { WorkRequest as _svc_agent_v1_WorkRequest, WorkRequest__Output as _svc_agent_v1_WorkRequest__Output } from './svc/agent/v1/WorkRequest.ts';
import type { WorkerCredential as _svc_agent_v1_WorkerCredential, WorkerCredential__Output as _svc_agent_v1_WorkerCredential__Output } from './svc/agent/v1/WorkerCredential.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  svc: {
    agent: {
      v1: {
        Agent: SubtypeConstructor<typeof grpc.Client, _svc_agent_v1_AgentClient> & { service: _svc_agent_v1_AgentDefinition }
        AppendLogReply: MessageTypeDefinition<_svc_agent_v1_AppendLogReply, _svc_agent_v1_AppendLogReply__Output>
        AppendLogRequest: MessageTypeDefinition<_svc_agent_v1_AppendLogRequest, _svc_agent_v1_AppendLogRequest__Output>
        Assignment: MessageTypeDefinition<_svc_agent_v1_Assignment, _svc_agent_v1_Assignment__Output>
        Beat: MessageTypeDefinition<_svc_agent_v1_Beat, _svc_agent_v1_Beat__Output>
        Bundle: MessageTypeDefinition<_svc_agent_v1_Bundle, _svc_agent_v1_Bundle__Output>
        CallReply: MessageTypeDefinition<_svc_agent_v1_CallReply, _svc_agent_v1_CallReply__Output>
        CallRequest: MessageTypeDefinition<_svc_agent_v1_CallRequest, _svc_agent_v1_CallRequest__Output>
        Cancel: MessageTypeDefinition<_svc_agent_v1_Cancel, _svc_agent_v1_Cancel__Output>
        Drain: MessageTypeDefinition<_svc_agent_v1_Drain, _svc_agent_v1_Drain__Output>
        ExchangeReply: MessageTypeDefinition<_svc_agent_v1_ExchangeReply, _svc_agent_v1_ExchangeReply__Output>
        ExchangeRequest: MessageTypeDefinition<_svc_agent_v1_ExchangeRequest, _svc_agent_v1_ExchangeRequest__Output>
        FinishReply: MessageTypeDefinition<_svc_agent_v1_FinishReply, _svc_agent_v1_FinishReply__Output>
        FinishRequest: MessageTypeDefinition<_svc_agent_v1_FinishRequest, _svc_agent_v1_FinishRequest__Output>
        GetVersionRequest: MessageTypeDefinition<_svc_agent_v1_GetVersionRequest, _svc_agent_v1_GetVersionRequest__Output>
        HeartbeatReply: MessageTypeDefinition<_svc_agent_v1_HeartbeatReply, _svc_agent_v1_HeartbeatReply__Output>
        HeartbeatRequest: MessageTypeDefinition<_svc_agent_v1_HeartbeatRequest, _svc_agent_v1_HeartbeatRequest__Output>
        JoinReply: MessageTypeDefinition<_svc_agent_v1_JoinReply, _svc_agent_v1_JoinReply__Output>
        JoinRequest: MessageTypeDefinition<_svc_agent_v1_JoinRequest, _svc_agent_v1_JoinRequest__Output>
        Module: MessageTypeDefinition<_svc_agent_v1_Module, _svc_agent_v1_Module__Output>
        NextAttempt: MessageTypeDefinition<_svc_agent_v1_NextAttempt, _svc_agent_v1_NextAttempt__Output>
        Order: MessageTypeDefinition<_svc_agent_v1_Order, _svc_agent_v1_Order__Output>
        StartReply: MessageTypeDefinition<_svc_agent_v1_StartReply, _svc_agent_v1_StartReply__Output>
        StartRequest: MessageTypeDefinition<_svc_agent_v1_StartRequest, _svc_agent_v1_StartRequest__Output>
        Started: MessageTypeDefinition<_svc_agent_v1_Started, _svc_agent_v1_Started__Output>
        Stop: MessageTypeDefinition<_svc_agent_v1_Stop, _svc_agent_v1_Stop__Output>
        Version: MessageTypeDefinition<_svc_agent_v1_Version, _svc_agent_v1_Version__Output>
        WorkRequest: MessageTypeDefinition<_svc_agent_v1_WorkRequest, _svc_agent_v1_WorkRequest__Output>
        WorkerCredential: MessageTypeDefinition<_svc_agent_v1_WorkerCredential, _svc_agent_v1_WorkerCredential__Output>
      }
    }
  }
}

