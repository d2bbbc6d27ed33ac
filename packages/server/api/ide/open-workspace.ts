/** What the routes of the editor share: who gets the workspace, and the answers to its errors. */
import type { FastifyRequest } from 'fastify';
import { DEFAULT_TENANT } from '../../db/identity/tenants.ts';
import { principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { ErrorCode } from '../../http/errors.ts';
import { WorkspaceError } from '../../workspace/errors.ts';
import type { WorkspaceFault } from '../../workspace/errors.ts';
import type { WorkspaceFiles } from '../../workspace/files.ts';

export const TAGS = ['Editor'];

const CODES: Record<WorkspaceFault, ErrorCode> = {
  invalid_path: 'invalid_request',
  not_found: 'not_found',
  exists: 'already_exists',
  changed: 'precondition_failed',
  not_a_file: 'conflict',
  not_empty: 'conflict',
  too_large: 'file_too_large',
  not_text: 'not_text',
  refused: 'conflict',
};

/** Answers 404 to callers without access to the workspace of this machine. */
export function openTo(request: FastifyRequest, files: WorkspaceFiles | undefined): WorkspaceFiles {
  if (files !== undefined && principalOf(request).tenantName === DEFAULT_TENANT) return files;
  throw new ApiError('not_found', 'there is no workspace to edit: start `svc lite <folder>`, or set ui.workspace');
}

export async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof WorkspaceError ? new ApiError(CODES[error.fault], error.message) : error;
  }
}
