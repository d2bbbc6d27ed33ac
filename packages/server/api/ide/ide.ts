/**
 * The files of the editor at /ide. They are in the workspace of this machine, which belongs to the default tenant. For
 * all other tenants, and without a workspace, these routes answer 404. A caller who may register DAGs may edit them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { basename } from 'node:path';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { createWorkspaceFiles } from '../../workspace/files.ts';
import type { WorkspaceFiles } from '../../workspace/files.ts';
import { parsePath } from '../../workspace/path.ts';
import { MAX_FILE_BYTES } from '../../workspace/text-file.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { TAGS, answering, openTo } from './open-workspace.ts';
import {
  CompileBody,
  CreateHeaders,
  FileContent,
  FileQuery,
  FileTag,
  FileWrite,
  MatchHeaders,
  RenameBody,
  Units,
  Workspace,
  unitBody,
} from './schemas.ts';
import { registerWorkspaceTests } from './workspace-tests.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { Type } from 'typebox';

/** JSON may encode one byte as six. */
const BODY_LIMIT_BYTES = 6 * MAX_FILE_BYTES + 10_000;

export function registerIde(app: App, services: Services): void {
  const files = services.config.ui.workspace === '' ? undefined : createWorkspaceFiles(services.config.ui.workspace);
  registerReading(app, services, files);
  registerWriting(app, services, files);
  registerMoving(app, services, files);
  registerCompiling(app, services, files);
  registerWorkspaceTests(app, services, files);
}

function registerReading(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  app.get(
    '/api/v2/ide/workspace',
    {
      config: { grows: 'files', access: 'write:dag', refuses: ['not_found', 'conflict'] },
      schema: {
        operationId: 'get_workspace',
        tags: TAGS,
        summary: 'List the files and folders of the workspace, with the results of their compilation',
        response: { 200: Workspace },
      },
    },
    async (request) => {
      const { entries, isComplete } = await answering(() => openTo(request, files).list());
      return {
        name: basename(services.config.ui.workspace),
        entries,
        is_complete: isComplete,
        units: services.workspaceCompiler?.units()?.map(unitBody) ?? null,
        runs_tests: services.workspaceTester !== undefined,
      };
    },
  );

  app.get(
    '/api/v2/ide/file',
    {
      config: { access: 'write:dag', refuses: ['not_found', 'conflict', 'file_too_large', 'not_text'] },
      schema: {
        operationId: 'get_workspace_file',
        tags: TAGS,
        summary: 'Get the text of a file; saving it needs the tag in `ETag`',
        querystring: FileQuery,
        response: { 200: FileContent },
      },
    },
    async (request, reply) => {
      const { path } = request.query;
      const { content, etag } = await answering(() => openTo(request, files).read(path));
      reply.header('etag', etag);
      return { path, content, etag };
    },
  );
}

function registerWriting(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  app.put(
    '/api/v2/ide/file',
    {
      config: {
        access: 'write:dag',
        refuses: [
          'not_found',
          'conflict',
          'already_exists',
          'precondition_failed',
          'file_too_large',
          'not_text',
          'precondition_required',
        ],
      },
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        operationId: 'put_workspace_file',
        tags: TAGS,
        summary: 'Save a file: a new one with `If-None-Match: *`, an existing one with its tag in `If-Match`',
        querystring: FileQuery,
        headers: CreateHeaders,
        body: FileWrite,
        response: { 200: FileTag, 201: FileTag },
      },
    },
    async (request, reply) => {
      const open = openTo(request, files);
      const { path } = request.query;
      const expected = expectedTag(request.headers);
      const write = { path, content: request.body.content, expected };
      const { etag, isWritten } = await answering(() => open.write(write));
      if (isWritten) await audit(request, services, { event: 'put_workspace_file', path });
      return reply
        .code(expected === null ? 201 : 200)
        .header('etag', etag)
        .send({ path, etag });
    },
  );

  app.delete(
    '/api/v2/ide/file',
    {
      config: { access: 'write:dag', refuses: ['not_found', 'conflict', 'precondition_failed'] },
      schema: {
        operationId: 'delete_workspace_file',
        tags: TAGS,
        summary: 'Delete a file, with its tag in `If-Match`, or an empty folder',
        querystring: FileQuery,
        headers: MatchHeaders,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { path } = request.query;
      await answering(() => openTo(request, files).remove(path, request.headers['if-match']));
      await audit(request, services, { event: 'delete_workspace_file', path });
      return sendNothing(reply);
    },
  );
}

function registerMoving(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  app.post(
    '/api/v2/ide/rename',
    {
      config: { access: 'write:dag', refuses: ['not_found', 'conflict', 'already_exists'] },
      schema: {
        operationId: 'rename_workspace_file',
        tags: TAGS,
        summary: 'Rename or move a file or folder',
        body: RenameBody,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { from, to } = request.body;
      await answering(() => openTo(request, files).rename(from, to));
      await audit(request, services, { event: 'rename_workspace_file', path: from, to });
      return sendNothing(reply);
    },
  );
}

function registerCompiling(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  app.post(
    '/api/v2/ide/compile',
    {
      config: { grows: 'files', access: 'write:dag', refuses: ['not_found', 'conflict'] },
      schema: {
        operationId: 'compile_workspace_file',
        tags: TAGS,
        summary: 'Compile and register what a file belongs to; problems name file and line',
        body: CompileBody,
        response: { 200: Units },
      },
    },
    async (request) => {
      openTo(request, files);
      const { text } = await answering(async () => parsePath(request.body.path));
      const units = await services.workspaceCompiler?.compile(text);
      if (units) return { units: units.map(unitBody) };
      throw new ApiError(
        'conflict',
        'nothing compiles the workspace here: it is saved; `svc lite` compiles, or run `svc deploy`',
      );
    },
  );
}

/** Returns null if the file must not exist yet. A write without a condition could undo the change of another person. */
function expectedTag(headers: { 'if-match'?: string; 'if-none-match'?: string }): string | null {
  const { 'if-match': match, 'if-none-match': none } = headers;
  if (match !== undefined && none === undefined) return match;
  if (match === undefined && none === '*') return null;
  throw new ApiError(
    'precondition_required',
    'say what is replaced: the tag of the file in If-Match, or "If-None-Match: *" for a new one',
  );
}

async function audit(
  request: FastifyRequest,
  { db }: Services,
  { event, path, to }: { event: string; path: string; to?: string },
): Promise<void> {
  await recordAudit(databaseOf(request, db), actorOf(request), {
    event,
    objectKind: 'workspace_file',
    objectId: path,
    ...(to !== undefined && { detail: { to } }),
  });
}

const sendNothing = (reply: FastifyReply): FastifyReply => reply.code(204).send(null);
