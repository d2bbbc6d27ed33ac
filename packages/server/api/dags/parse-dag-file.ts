/**
 * Compiles a DAG file again. Files are compiled where they are stored. In lite, the workspace is watched, so touching a
 * file compiles it. Elsewhere, files are compiled before registration, and the control plane has no file to read.
 */
import { realpath, utimes } from 'node:fs/promises';
import { sep } from 'node:path';
import { Type } from 'typebox';
import { findFileloc } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { sendRaw } from '../../http/send-raw.ts';

export function registerParseDagFile(app: App, { config, db }: Services): void {
  app.put(
    '/api/v2/parseDagFile/:file_token',
    {
      config: { access: 'write:dag', refuses: ['conflict'] },
      schema: {
        operationId: 'reparse_dag_file',
        tags: ['DAGs'],
        summary: 'Compile a DAG file of the workspace again',
        params: Type.Object({ file_token: Type.String({ description: 'As the DAG says: `file_token`' }) }),
        response: {
          201: { description: 'It is compiled anew', content: { 'application/json': { schema: Type.Null() } } },
        },
      },
    },
    async (request, reply) => {
      const file = await fileOf(databaseOf(request, db), request.params.file_token);
      if (file === undefined)
        throw new ApiError('not_found', 'file_token names the file of no DAG: take it from a DAG');
      const path = config.ui.workspace === '' ? undefined : await insideWorkspace(config.ui.workspace, file);
      if (path === undefined) {
        throw new ApiError(
          'conflict',
          'the file is not in a workspace that this control plane watches: compile and register it with `svc deploy`',
        );
      }
      const now = new Date();
      await utimes(path, now, now);
      // The body is written out, because an empty body would be an error for the UI.
      return sendRaw(reply.code(201).type('application/json'), 'null');
    },
  );
}

/** Returns the file of a DAG of this tenant, or undefined for an invalid token or one of another tenant. */
async function fileOf(scope: TenantDb, token: string): Promise<string | undefined> {
  const [bundle, path] = readToken(token);
  if (typeof bundle !== 'string' || typeof path !== 'string' || `${bundle}${path}`.includes('\0')) return undefined;
  return findFileloc(scope, bundle, path);
}

function readToken(token: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/**
 * Returns the real path of the file. Undefined if it no longer exists or is outside the workspace, because the sender
 * of a registration chooses the path.
 */
async function insideWorkspace(workspace: string, file: string): Promise<string | undefined> {
  try {
    const [root, path] = await Promise.all([realpath(workspace), realpath(file)]);
    return path.startsWith(`${root}${sep}`) ? path : undefined;
  } catch {
    return undefined;
  }
}
