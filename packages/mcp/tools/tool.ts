/** What all tools share: the control plane as the caller sees it, and the form of results. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/server';
import type { ControlPlane } from '../control-plane/client.ts';
import type { Limit } from '../control-plane/limit.ts';

export type ToolContext = {
  controlPlane: ControlPlane;
  /** Limits parallel answers of many megabytes, which would otherwise fill the memory. */
  heavy: Limit;
};

/** Annotations of tools that only read from one control plane. */
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
