/**
 * The files of the commit with which a run ran a version, for `svc replay`. They are those of the whole repository, so
 * they need the permission of those who may change DAGs.
 */
import { Type } from 'typebox';
import { MOST_PARTS_ASKED, splitRunTree } from '@svc/proto/code-archive.ts';
import { findManifest, findTreeOfVersion } from '../../db/bundles/archives.ts';
import type { TenantDb } from '../../db/database.ts';
import { findRunKey } from '../../db/task-instances/details.ts';
import { PART_NAME, encodedParts, filesOfManifest, parsePart } from '../../db/bundles/tree-parts.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import type { RunInPath } from '../paths.ts';
import type { Services } from '../services.ts';
import { RUN_TAGS } from './schemas.ts';

const PATH = '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/files';
const VersionQuery = Type.Object({ version_number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) });

const Files = Type.Object(
  {
    tree: Nullable(
      Type.String({ description: '`<hash>/<folder that tasks import from>`. Null: the version came from no bundle' }),
    ),
    manifest: Nullable(Type.String({ description: 'The list of files as JSON; the hash is its SHA-256' })),
  },
  { title: 'DagRunFiles' },
);

const PartsBody = Type.Object(
  {
    parts: Type.Array(
      Type.String({ pattern: PART_NAME.source, description: '`<SHA-256 of a file> <number of the part, from 0>`' }),
      { minItems: 1, maxItems: MOST_PARTS_ASKED },
    ),
  },
  { title: 'DagRunFilePartsBody', additionalProperties: false },
);

const Parts = Type.Object(
  {
    parts: Type.Array(Type.String(), {
      description: 'In base64, compressed by zlib: as many of the first that were asked for as fit, at least one',
    }),
  },
  { title: 'DagRunFileParts' },
);

export function registerRunFiles(app: App, { db }: Services): void {
  app.get(
    PATH,
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'get_dag_run_files',
        tags: RUN_TAGS,
        summary: 'List the files of the commit with which a run ran a version',
        params: RunParams,
        querystring: VersionQuery,
        response: { 200: Files },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const found = await filesOf(scope, request.params, request.query.version_number);
      return found ?? { tree: null, manifest: null };
    },
  );

  app.post(
    `${PATH}/parts`,
    {
      config: { grows: 'body', access: 'write:dag' },
      schema: {
        operationId: 'read_dag_run_files',
        tags: RUN_TAGS,
        summary: 'Read parts of the files of the commit with which a run ran a version',
        params: RunParams,
        querystring: VersionQuery,
        body: PartsBody,
        response: { 200: Parts },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const found = await filesOf(scope, request.params, request.query.version_number);
      const known = found ? filesOfManifest(found.manifest) : new Set<string>();
      const asked = request.body.parts.map((name) => {
        const part = parsePart(name);
        if (!part || !known.has(part.hash)) throw new ApiError('not_found', `the version has no file ${name}`);
        return part;
      });
      const parts = await encodedParts(scope, asked);
      if (!parts) throw new ApiError('not_found', 'the files of this version are not stored any more');
      return { parts };
    },
  );
}

async function filesOf(
  db: TenantDb,
  params: RunInPath,
  versionNumber: number,
): Promise<{ tree: string; manifest: string } | undefined> {
  const { dag_id: dagId, dag_run_id: runId } = params;
  const run = await findRunKey(db, dagId, runId);
  if (!run) throw noSuchRun(params);
  const tree = await findTreeOfVersion(db, { run: run.id, dagId, versionNumber });
  if (tree === null) return undefined;
  const manifest = await findManifest(db, splitRunTree(tree).hash);
  return manifest === undefined ? undefined : { tree, manifest };
}
