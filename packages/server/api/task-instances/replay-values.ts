/**
 * Variables and connections for a try that a person runs again on another machine (`svc replay --production`). They
 * leave the control plane with their secrets. They therefore need a permission of their own, and each is audited.
 */
import { Type } from 'typebox';
import { findVersionSpec } from '../../db/dags/version-lookups.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findInstancesOfTask } from '../../db/task-instances/task-instances.ts';
import type { TenantDb } from '../../db/database.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { RUN_PATH, TAGS, TaskParams, existingRunKey, noSuchInstance } from './paths.ts';

const Kind = Type.Union([Type.Literal('variable'), Type.Literal('connection')]);
const Body = Type.Object(
  { kind: Kind, name: Type.String({ minLength: 1, maxLength: 250 }) },
  { title: 'ReplayValueBody', additionalProperties: false },
);

const ReplayValue = Type.Object(
  { text: Nullable(Type.String({ description: 'A connection is JSON. Null if there is none of that name' })) },
  { title: 'ReplayValue' },
);

export function registerReplayValues(app: App, { db, compileValues }: Services): void {
  app.post(
    `${RUN_PATH}/:task_id/replayValues`,
    {
      config: { access: 'use:secret' },
      schema: {
        operationId: 'post_replay_value',
        tags: TAGS,
        summary: 'Read a variable or a connection for a try that runs again on another machine',
        description: 'As for the task, `auth.secret_scoping` decides what its DAG may read. Audited.',
        params: TaskParams,
        body: Body,
        response: { 200: ReplayValue },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const tenantDb = databaseOf(request, db);
      const run = await existingRunKey(tenantDb, params);
      const instances = await findInstancesOfTask(tenantDb, run.id, params.task_id);
      if (instances.length === 0) throw noSuchInstance(params);
      const { tenantId } = principalOf(request);
      const versionNumber = instances[0]?.version_number ?? run.version_number;
      const isDeclared = await declares(tenantDb, { dagId: run.dag_id, versionNumber }, body);
      const found = await compileValues(tenantId).answer({ ...body, isDeclared });
      if ('refusal' in found) throw new ApiError('permission_denied', `${found.refusal}. ${found.instead}`);
      await recordAudit(tenantDb, actorOf(request), {
        event: 'post_replay_value',
        objectKind: body.kind,
        objectId: body.name,
        detail: {
          exists: found.text !== null,
          dag_id: run.dag_id,
          run_id: run.run_id,
          task_id: params.task_id,
        },
      });
      return reply.header('cache-control', 'no-store').send({ text: found.text });
    },
  );
}

type Secrets = { secrets: { connections: string[]; variables: string[] } };

async function declares(
  db: TenantDb,
  { dagId, versionNumber }: { dagId: string; versionNumber: number | null },
  { kind, name }: { kind: 'variable' | 'connection'; name: string },
): Promise<boolean> {
  const version = versionNumber === null ? undefined : await findVersionSpec(db, { dagId, versionNumber });
  if (!version) return false;
  const { connections, variables } = (JSON.parse(version.spec) as Secrets).secrets;
  return (kind === 'connection' ? connections : variables).includes(name);
}
