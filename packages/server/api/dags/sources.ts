/** The source of a version and its compiled spec. */
import { Type } from 'typebox';
import { findVersionText } from '../../db/dags/dag-versions.ts';
import { findDag } from '../../db/dags/dags.ts';
import { preferredType } from '../../http/accept.ts';
import { databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { JsonOrText } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { sendRaw } from '../../http/send-raw.ts';

const Params = Type.Object({ dag_id: Type.String() });
const VersionQuery = Type.Object({
  version_number: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Default: the newest' }),
  ),
});

const DagSource = Type.Object(
  {
    content: Type.String({ description: 'The source text; for a version registered without it, the compiled spec' }),
    dag_id: Type.String(),
    version_number: Type.Integer(),
    dag_display_name: Type.String(),
  },
  { title: 'DagSource' },
);

export function registerDagSources(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dagSources/:dag_id',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_source',
        tags: ['DAG versions'],
        summary: 'Get the source of a DAG; `Accept: text/plain` for the text alone',
        params: Params,
        querystring: VersionQuery,
        response: { 200: JsonOrText(DagSource, 'The source; as text, without what else is known of it') },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId } = request.params;
      const scope = databaseOf(request, db);
      const [dag, version] = await Promise.all([
        findDag(scope, dagId),
        findVersionText(scope, dagId, request.query.version_number),
      ]);
      if (!dag || !version)
        throw new ApiError('not_found', `The source code of the Dag with ID: \`${dagId}\` was not found`);
      const content = version.source ?? version.spec;
      if (preferredType(request.headers.accept, ['application/json', 'text/plain']) === 'text/plain')
        return sendRaw(reply.type('text/plain; charset=utf-8'), content);
      return { content, dag_id: dagId, version_number: version.version_number, dag_display_name: dag.display_name };
    },
  );

  app.get(
    '/api/v2/dags/:dag_id/spec',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_dag_spec',
        tags: ['DAG versions'],
        summary: 'Get the compiled spec: the structured task graph the scheduler runs',
        params: Params,
        querystring: VersionQuery,
        response: { 200: Type.Object({}, { additionalProperties: true }) },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId } = request.params;
      const version = await findVersionText(databaseOf(request, db), dagId, request.query.version_number);
      if (!version) throw new ApiError('not_found', `The compiled spec of the Dag with ID: \`${dagId}\` was not found`);
      // The text is sent as it was registered, so megabytes need not be parsed and printed again.
      return sendRaw(reply.type('application/json; charset=utf-8'), version.spec);
    },
  );
}
