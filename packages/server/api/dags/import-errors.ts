/** Files that do not compile. The compiler reports them, and they are shown until the file compiles again. */
import { Type } from 'typebox';
import { deleteImportError, findImportError, listImportErrors, putImportError } from '../../db/dags/import-errors.ts';
import type { ImportErrorRow } from '../../db/dags/import-errors.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = {
  id: 'id',
  import_error_id: 'id',
  timestamp: 'at',
  filename: 'filename',
  bundle_name: 'bundle_name',
  stacktrace: 'stack_trace',
  stack_trace: 'stack_trace',
} as const;
const TAGS = ['Import errors'];

const ImportError = Type.Object(
  {
    import_error_id: Type.Integer(),
    timestamp: DateTime,
    filename: Type.String(),
    bundle_name: Nullable(Type.String()),
    stack_trace: Type.String(),
  },
  { title: 'ImportError' },
);

const importErrorBody = (row: ImportErrorRow) => ({
  import_error_id: row.id,
  timestamp: row.at,
  filename: row.filename,
  bundle_name: row.bundle_name,
  stack_trace: row.stack_trace,
});

const Id = Type.Object({ import_error_id: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) });
const notFound = (id: number) =>
  new ApiError('not_found', `The ImportError with import_error_id: \`${id}\` was not found`);

export function registerImportErrors(app: App, { db }: Services): void {
  app.get(
    '/api/v2/importErrors',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_import_errors',
        tags: TAGS,
        summary: 'List files that do not compile',
        querystring: Type.Object({
          ...PagingQuery,
          ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
          ...PatternQuery('filename'),
          filename: Type.Optional(Type.String({ maxLength: 4_096, description: 'Only of this file' })),
          bundle_name: Type.Optional(Type.String({ maxLength: 250, description: 'Only of this bundle' })),
        }),
        response: { 200: Collection('ImportErrorCollection', 'import_errors', ImportError) },
      },
    },
    async (request) => {
      const {
        limit,
        offset,
        order_by: keys,
        filename_pattern: pattern,
        filename_prefix_pattern: prefix,
        filename,
        bundle_name: bundleName,
      } = request.query;
      const { errors, total } = await listImportErrors(databaseOf(request, db), {
        limit,
        offset,
        order: parseOrderBy(keys, ORDER_COLUMNS, [{ column: 'id', direction: 'asc' }]),
        filenames: parsePatterns({ pattern, prefix }),
        ...(filename !== undefined && { filename }),
        ...(bundleName !== undefined && { bundleName }),
      });
      return { import_errors: errors.map(importErrorBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/importErrors/:import_error_id',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_import_error',
        tags: TAGS,
        summary: 'Get one import error',
        params: Id,
        response: { 200: ImportError },
      },
    },
    async (request) => {
      const error = await findImportError(databaseOf(request, db), request.params.import_error_id);
      if (!error) throw notFound(request.params.import_error_id);
      return importErrorBody(error);
    },
  );

  app.post(
    '/api/v2/importErrors',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'post_import_error',
        tags: TAGS,
        summary: 'Report a file that does not compile; replaces what was reported for it before',
        body: Type.Object(
          {
            filename: Type.String({ minLength: 1, maxLength: 4_096 }),
            bundle_name: Type.String({ minLength: 1, maxLength: 250 }),
            stack_trace: Type.String({ maxLength: 262_144 }),
          },
          { title: 'ImportErrorReport', additionalProperties: false },
        ),
        response: { 201: ImportError },
      },
    },
    async (request, reply) => {
      const { filename, bundle_name: bundleName, stack_trace: stackTrace } = request.body;
      const error = await putImportError(databaseOf(request, db), { bundleName, filename, stackTrace });
      return reply.code(201).send(importErrorBody(error));
    },
  );

  app.delete(
    '/api/v2/importErrors/:import_error_id',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'delete_import_error',
        tags: TAGS,
        summary: 'Delete an import error, because the file is gone or compiles again',
        params: Id,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, db);
      const error = await findImportError(scope, request.params.import_error_id);
      if (!error) throw notFound(request.params.import_error_id);
      await deleteImportError(scope, { bundleName: error.bundle_name, filename: error.filename });
      return reply.code(204).send(null);
    },
  );
}
