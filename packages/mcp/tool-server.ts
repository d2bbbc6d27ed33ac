/**
 * The server of the protocol: three tools and some resources, none of which writes. One is created for each HTTP
 * request, or one for a connection over standard input and output. It sees only what its token may see.
 */
import { McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { observe } from './observe.ts';
import type { ToolServerOptions } from './observe.ts';
import { registerResources } from './resources/register.ts';
import { UNTRUSTED_NOTICE } from './text/untrusted.ts';
import { diagnoseRun } from './tools/diagnose-run.ts';
import { DIAGNOSE_RUN, diagnoseRunInput, diagnoseRunOutput } from './tools/diagnose-run-shapes.ts';
import { LIST_DAGS, listDags, listDagsInput, listDagsOutput } from './tools/list-dags.ts';
import { schemaOnce } from './tools/schema-once.ts';
import { SEARCH_LOGS, searchLogs, searchLogsInput, searchLogsOutput } from './tools/search-logs.ts';
import { READ_ONLY } from './tools/tool.ts';
import type { ToolContext } from './tools/tool.ts';
import { VERSION } from './version.ts';

const INSTRUCTIONS = `Shows a svc control plane (Airflow-compatible DAG workflows), read-only.
To find out why a run failed, call diagnose_run with its dag_id (and run_id, or it takes the newest failed run): one call is enough in most cases. list_dags finds dag_ids with their newest runs, search_logs looks into a log beyond its last lines.
${UNTRUSTED_NOTICE}`;

const SCHEMAS = {
  listDags: { inputSchema: schemaOnce(listDagsInput), outputSchema: schemaOnce(listDagsOutput) },
  diagnoseRun: { inputSchema: schemaOnce(diagnoseRunInput), outputSchema: schemaOnce(diagnoseRunOutput) },
  searchLogs: { inputSchema: schemaOnce(searchLogsInput), outputSchema: schemaOnce(searchLogsOutput) },
};

export function createToolServer(options: ToolServerOptions): McpServer {
  const mcp = new McpServer(
    { name: 'svc-mcp', title: 'svc control plane', version: VERSION },
    {
      instructions: INSTRUCTIONS,
      // Both lists never change.
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
    },
  );
  registerTools(mcp, options);
  registerResources(mcp, options);
  return mcp;
}

function registerTools(mcp: McpServer, options: ToolServerOptions): void {
  const tool =
    <Input extends object>(name: string, run: (context: ToolContext, input: Input) => Promise<CallToolResult>) =>
    (input: Input, ctx: ServerContext): Promise<CallToolResult> =>
      observe({ mcp, options, ctx, what: name, about: idsOf(input) }, (controlPlane) =>
        run({ controlPlane, heavy: options.heavy }, input),
      );

  mcp.registerTool(
    'list_dags',
    { ...LIST_DAGS, ...SCHEMAS.listDags, annotations: READ_ONLY },
    tool('list_dags', listDags),
  );
  mcp.registerTool(
    'diagnose_run',
    { ...DIAGNOSE_RUN, ...SCHEMAS.diagnoseRun, annotations: READ_ONLY },
    tool('diagnose_run', diagnoseRun),
  );
  mcp.registerTool(
    'search_logs',
    { ...SEARCH_LOGS, ...SCHEMAS.searchLogs, annotations: READ_ONLY },
    tool('search_logs', searchLogs),
  );
}

function idsOf(input: object): Record<string, string> {
  const ids = Object.entries(input).filter(([name, value]) => name.endsWith('_id') && typeof value === 'string');
  return Object.fromEntries(ids) as Record<string, string>;
}
