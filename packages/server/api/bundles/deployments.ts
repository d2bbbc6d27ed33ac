/** Deployments of a bundle, and going back to one of them. */
import { Type } from 'typebox';
import { findDeployment, listDeployments } from '../../db/bundles/deployments.ts';
import { rollBackDag } from '../../delivery/roll-back-dag.ts';
import { rollBack } from '../../delivery/roll-back.ts';
import { actorOf, databaseOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { noSuchDag } from '../paths.ts';
import type { Services } from '../services.ts';
import { deploymentBody, listedDeploymentBody } from './bodies.ts';
import { bundleOf, noSuchBundle } from './bundles.ts';
import {
  BundleParams,
  DagRollback,
  DagRollbackBody,
  Deployment,
  DeploymentCollection,
  RollbackBody,
} from './schemas.ts';

const TAGS = ['Bundles'];

const noSuchDeployment = (name: string, number: number): ApiError =>
  new ApiError('not_found', `the bundle "${name.slice(0, 256)}" has no deployment ${number}`);

export function registerDeployments(app: App, { db }: Services): void {
  app.get(
    '/api/v2/bundles/:bundle/deployments',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_deployments',
        tags: TAGS,
        summary: 'List deployments of a bundle, newest first',
        params: BundleParams,
        querystring: Type.Object(PagingQuery),
        response: { 200: DeploymentCollection },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { current_deployment: current, name } = await bundleOf(scope, request.params.bundle);
      const { deployments, total } = await listDeployments(scope, { bundleName: name, ...request.query });
      return { deployments: deployments.map((row) => listedDeploymentBody(row, current)), total_entries: total };
    },
  );

  app.get(
    '/api/v2/bundles/:bundle/deployments/:deployment',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_deployment',
        tags: TAGS,
        summary: 'Get a deployment with the versions of its DAGs',
        params: Type.Object({
          bundle: Type.String(),
          deployment: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
        }),
        response: { 200: Deployment },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { bundle: name, deployment: number } = request.params;
      const { current_deployment: current } = await bundleOf(scope, name);
      const row = await findDeployment(scope, name, number);
      if (!row) throw noSuchDeployment(name, number);
      return deploymentBody(row, current);
    },
  );

  app.post(
    '/api/v2/bundles/:bundle/rollback',
    {
      config: { access: 'write:dag', refuses: ['conflict'] },
      schema: {
        operationId: 'post_rollback',
        tags: TAGS,
        summary: 'Make an older deployment current again',
        description:
          'The commit that is undone is not deployed again before a sync is asked for or a newer commit comes.',
        params: BundleParams,
        body: RollbackBody,
        response: { 201: Deployment },
      },
    },
    async (request, reply) => {
      const { bundle: name } = request.params;
      const { to } = request.body;
      const outcome = await rollBack(databaseOf(request, db), { bundleName: name, to, actor: actorOf(request) });
      switch (outcome.kind) {
        case 'no_bundle':
          throw noSuchBundle(name);
        case 'no_deployment':
          throw noSuchDeployment(name, to ?? 0);
        case 'refused':
          throw new ApiError('conflict', `the bundle "${name}" cannot be rolled back: ${outcome.reason}`);
        case 'done':
          return reply.code(201).send(deploymentBody(outcome.deployment, outcome.deployment.number));
      }
    },
  );

  app.post(
    '/api/v2/dags/:dag_id/rollback',
    {
      config: { access: 'write:dag', refuses: ['conflict'] },
      schema: {
        operationId: 'post_dag_rollback',
        tags: TAGS,
        summary: 'Give a DAG the content of an older version again',
        description:
          'A later commit that still has the content which was undone does not bring it back. A sync that is asked for does.',
        params: Type.Object({ dag_id: Type.String() }),
        body: DagRollbackBody,
        response: { 201: DagRollback },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId } = request.params;
      const { to } = request.body;
      const outcome = await rollBackDag(databaseOf(request, db), { dagId, to, actor: actorOf(request) });
      switch (outcome.kind) {
        case 'no_dag':
          throw noSuchDag(dagId);
        case 'no_version':
          throw new ApiError('not_found', `the DAG "${dagId}" has no version ${to}`);
        case 'refused':
          throw new ApiError('conflict', `the DAG "${dagId}" cannot be rolled back: ${outcome.reason}`);
        case 'done': {
          const { version, repeats, from, bundleName, deployment } = outcome;
          return reply.code(201).send({ dag_id: dagId, version, repeats, from, bundle_name: bundleName, deployment });
        }
      }
    },
  );
}
