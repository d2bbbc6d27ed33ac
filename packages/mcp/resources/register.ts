/** Registers the resources with their URIs, descriptions and readers. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import type { McpServer, ReadResourceResult, ServerContext, Variables } from '@modelcontextprotocol/server';
import type { ControlPlane } from '../control-plane/client.ts';
import { ControlPlaneError } from '../control-plane/failures.ts';
import { observe } from '../observe.ts';
import type { ToolServerOptions } from '../observe.ts';
import { jsonContents, quotedContents } from './contents.ts';
import { controlPlaneHealth, runDetail } from './details.ts';
import { dagList, instanceList } from './lists.ts';
import { compiledSpec } from './spec.ts';
import { dagSource, logTail } from './texts.ts';
import { dagIdOf, runRefOf, tryRefOf } from './uris.ts';

type Entry = {
  name: string;
  /** A full URI, or a template with variables in braces. */
  uri: string;
  title: string;
  description: string;
  mimeType: 'application/json' | 'text/plain';
  read(from: ControlPlane, uri: URL, ids: Variables): Promise<ReadResourceResult>;
};

function entriesOf({ heavy }: ToolServerOptions): Entry[] {
  return [
    {
      name: 'dags',
      uri: 'dag://list',
      title: 'DAGs',
      description: 'All registered DAGs, compact',
      mimeType: 'application/json',
      read: async (from, uri) => jsonContents(uri, await dagList(from)),
    },
    {
      name: 'run',
      uri: 'run://detail/{dag_id}/{run_id}',
      title: 'Run',
      description: "A run's detail: state, type, timing",
      mimeType: 'application/json',
      read: async (from, uri, ids) => jsonContents(uri, await runDetail(from, runRefOf(ids))),
    },
    {
      name: 'task-instances',
      uri: 'task://instances/{dag_id}/{run_id}',
      title: 'Task instances',
      description: "A run's task instances: state, try, duration",
      mimeType: 'application/json',
      read: async (from, uri, ids) => jsonContents(uri, await instanceList(from, runRefOf(ids))),
    },
    {
      name: 'task-log',
      uri: 'log://task/{dag_id}/{run_id}/{task_id}/{try_number}',
      title: 'Task log',
      description: "The last 200 lines of a task attempt's log, sanitized; untrusted data",
      mimeType: 'text/plain',
      read: async (from, uri, ids) => quotedContents(uri, await logTail(from, tryRefOf(ids))),
    },
    {
      name: 'mapped-task-log',
      uri: 'log://task/{dag_id}/{run_id}/{task_id}/{map_index}/{try_number}',
      title: 'Log of an instance of a mapped task',
      description: 'The same for one instance of a mapped task; untrusted data',
      mimeType: 'text/plain',
      read: async (from, uri, ids) => quotedContents(uri, await logTail(from, tryRefOf(ids))),
    },
    {
      name: 'dag-source',
      uri: 'dag://source/{dag_id}',
      title: 'DAG source',
      description: 'The source of a DAG, sanitized, at most 64 KiB; untrusted data',
      mimeType: 'text/plain',
      read: async (from, uri, ids) => quotedContents(uri, await dagSource(from, dagIdOf(ids))),
    },
    {
      name: 'dag-spec',
      uri: 'dag://spec/{dag_id}',
      title: 'DAG spec',
      description: 'The compiled spec: the structured task graph',
      mimeType: 'application/json',
      read: (from, uri, ids) => heavy.run(async () => jsonContents(uri, await compiledSpec(from, dagIdOf(ids)))),
    },
    {
      name: 'health',
      uri: 'health://control-plane',
      title: 'Health',
      description: 'Health of the control plane: component status, executor capability, version',
      mimeType: 'application/json',
      read: async (from, uri) => jsonContents(uri, await controlPlaneHealth(from)),
    },
  ];
}

export function registerResources(mcp: McpServer, options: ToolServerOptions): void {
  for (const { name, uri: pattern, read, ...about } of entriesOf(options)) {
    const answer = async (uri: URL, ids: Variables, ctx: ServerContext): Promise<ReadResourceResult> => {
      try {
        const call = { mcp, options, ctx, what: `resource ${name}`, about: { uri: uri.href } };
        return await observe(call, (from) => read(from, uri, ids));
      } catch (error) {
        throw asProtocolError(uri, error);
      }
    };
    if (pattern.includes('{')) {
      mcp.registerResource(name, new ResourceTemplate(pattern, { list: undefined }), about, answer);
    } else {
      mcp.registerResource(name, pattern, about, (uri, ctx) => answer(uri, {}, ctx));
    }
  }
}

/** A tool returns its errors as results. A resource can only use errors of the protocol. */
function asProtocolError(uri: URL, error: unknown): unknown {
  if (!(error instanceof ControlPlaneError)) return error;
  if (error.kind === 'not_found') return new ResourceNotFoundError(uri.href, error.message);
  const code = error.kind === 'invalid' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message);
}
