/** Versions of DAGs: registers compiled artifacts and reads registered ones. */
import { Type } from 'typebox';
import { executorNames, hasExecutor } from '../../config/executor-names.ts';
import { findVersion, listVersions } from '../../db/dags/dag-versions.ts';
import { findDag } from '../../db/dags/dags.ts';
import { findExecutor } from '../../db/processes/heartbeats.ts';
import { Artifact } from '../../registry/artifact.ts';
import { registerVersion } from '../../registry/register-version.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { versionBody } from './bodies.ts';
import { DagVersion, DagVersionCollection } from './schemas.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { WHOLE_UP_TO_A_PAGE, WholeListQuery, limitOf, linkToNextPage } from '../../http/next-page.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { OrderByQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const ORDER_COLUMNS = {
  id: 'id',
  version_number: 'version_number',
  bundle_name: 'bundle_name',
  bundle_version: 'bundle_version',
} as const;
const TAGS = ['DAG versions'];
/** A spec contains the whole task graph and the source text. */
const MAX_ARTIFACT_BYTES = 16 * 1024 * 1024;
/** The path segment for all DAGs. */
const ALL = '~';

export function registerDagVersions(app: App, { config, db }: Services): void {
  const { podOverrideSecrets } = config.executor;
  const podPolicy = hasExecutor(config, 'orchestrator') ? { allowsSecrets: podOverrideSecrets } : undefined;
  // A process without an executor uses what a scheduler has reported about its own.
  const findExecutors = async (): Promise<readonly string[]> => {
    const facts = config.server.role === 'api' ? await findExecutor(db) : undefined;
    return facts?.execution_modes.map((mode) => (mode === 'pod' ? 'orchestrator' : mode)) ?? executorNames(config);
  };

  app.post(
    '/api/v2/dags/:dag_id/dagVersions',
    {
      bodyLimit: MAX_ARTIFACT_BYTES,
      config: { access: 'write:dag' },
      schema: {
        operationId: 'post_dag_version',
        tags: TAGS,
        summary: 'Register a compiled version',
        description:
          'Idempotent: the content that is current already answers 200 with the version it has; new content answers 201.',
        params: Type.Object({ dag_id: Type.String() }),
        body: Artifact,
        response: { 200: DagVersion, 201: DagVersion },
      },
    },
    async (request, reply) => {
      const outcome = await registerVersion(databaseOf(request, db), {
        dagId: request.params.dag_id,
        artifact: request.body,
        actor: actorOf(request),
        podPolicy,
        executors: await findExecutors(),
      });
      if (outcome.kind === 'refused') throw new ApiError('invalid_request', outcome.problems.join('; '));
      return reply.code(outcome.kind === 'created' ? 201 : 200).send(versionBody(outcome.version));
    },
  );

  app.get(
    '/api/v2/dags/:dag_id/dagVersions',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_versions',
        tags: TAGS,
        summary: 'List versions of a DAG, newest first; `~` for all DAGs',
        description: WHOLE_UP_TO_A_PAGE,
        params: Type.Object({ dag_id: Type.String() }),
        querystring: Type.Object({
          ...WholeListQuery,
          ...OrderByQuery(Object.keys(ORDER_COLUMNS)),
          version_number: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
          bundle_name: Type.Optional(Type.String()),
          bundle_version: Type.Optional(Type.String()),
        }),
        response: { 200: DagVersionCollection },
      },
    },
    async (request, reply) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId } = request.params;
      const {
        limit: asked,
        offset,
        order_by: keys,
        version_number: versionNumber,
        bundle_name: bundleName,
        bundle_version: bundleVersion,
      } = request.query;
      const limit = limitOf(asked, { isOfOne: dagId !== ALL });
      if (dagId !== ALL && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
      const { versions, total } = await listVersions(scope, {
        limit,
        offset,
        order: parseOrderBy(keys, ORDER_COLUMNS, [
          { column: 'version_number', direction: 'desc' },
          { column: 'id', direction: 'asc' },
        ]),
        ...(dagId !== ALL && { dagId }),
        ...(versionNumber !== undefined && { versionNumber }),
        ...(bundleName !== undefined && { bundleName }),
        ...(bundleVersion !== undefined && { bundleVersion }),
      });
      linkToNextPage(request, reply, { limit, offset, total });
      return { dag_versions: versions.map(versionBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/dags/:dag_id/dagVersions/:version_number',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_version',
        tags: TAGS,
        summary: 'Get one version',
        params: Type.Object({
          dag_id: Type.String(),
          version_number: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
        }),
        response: { 200: DagVersion },
      },
    },
    async (request) => {
      const { dag_id: dagId, version_number: versionNumber } = request.params;
      const version = await findVersion(databaseOf(request, db), dagId, versionNumber);
      if (!version)
        throw new ApiError(
          'not_found',
          `The DagVersion with dag_id: \`${dagId}\` and version_number: \`${versionNumber}\` was not found`,
        );
      return versionBody(version);
    },
  );
}
