/** What every tool has: the control plane as its caller sees it, and the form of its result. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ControlPlane } from '../control-plane/client.ts';
import type { Limit } from '../control-plane/limit.ts';

export type ToolContext = {
  controlPlane: ControlPlane;
  /** For answers of many megabytes: a few at a time, or a crowd of callers would fill the memory. */
  heavy: Limit;
};

/** They look at the one control plane they were started for, and change nothing however often they are called. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const result = (structured: Record<string, unknown>, text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: structured,
});
