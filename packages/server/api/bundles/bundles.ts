/** Bundles: named sources of DAGs, which the control plane keeps in step with a repository or a folder. */
import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import {
  askForSync,
  deleteBundle,
  findBundle,
  hasUnmanagedDags,
  insertBundle,
  listBundles,
  updateBundle,
} from '../../db/bundles/bundles.ts';
import type { ShownBundle } from '../../db/bundles/bundles.ts';
import type { TenantDb } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { refusedSource } from '../../delivery/source-rules.ts';
import { actorOf, databaseOf, principalOf, requirePermission } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { bundleBody } from './bodies.ts';
import { Bundle, BundleCollection, BundleParams, BundleUpdate, NewBundleBody } from './schemas.ts';

const TAGS = ['Bundles'];
const DEFAULT_POLL_SECONDS = 60;

export const noSuchBundle = (name: string): ApiError =>
  new ApiError('not_found', `there is no bundle "${name.slice(0, 256)}"`);

export async function bundleOf(db: TenantDb, name: string): Promise<ShownBundle> {
  const bundle = await findBundle(db, name);
  if (!bundle) throw noSuchBundle(name);
  return bundle;
}

export function registerBundles(app: App, services: Services): void {
  registerReads(app, services);
  registerWrites(app, services);
}

function registerReads(app: App, { db }: Services): void {
  app.get(
    '/api/v2/bundles',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_bundles',
        tags: TAGS,
        summary: 'List bundles by name',
        querystring: Type.Object({ ...PagingQuery, ...PatternQuery('name') }),
        response: { 200: BundleCollection },
      },
    },
    async (request) => {
      const { limit, offset, name_pattern: pattern, name_prefix_pattern: prefix } = request.query;
      const names = parsePatterns({ pattern, prefix });
      const { bundles, total } = await listBundles(databaseOf(request, db), { limit, offset, names });
      return { bundles: bundles.map(bundleBody), total_entries: total };
    },
  );

  app.get(
    '/api/v2/bundles/:bundle',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'get_bundle',
        tags: TAGS,
        summary: 'Get a bundle: its settings, what is current, and its last sync',
        params: BundleParams,
        response: { 200: Bundle },
      },
    },
    async (request) => bundleBody(await bundleOf(databaseOf(request, db), request.params.bundle)),
  );
}

function registerWrites(app: App, { config, db, wakeBundles }: Services): void {
  const { allowedPaths } = config.bundles;

  app.post(
    '/api/v2/bundles',
    {
      config: { access: 'write:dag', refuses: ['already_exists'] },
      schema: {
        operationId: 'post_bundle',
        tags: TAGS,
        summary: 'Create a bundle, and sync it',
        description:
          'With `conn_id` or `webhook_conn_id` it also needs `write:connection`, because secrets of these are used.',
        body: NewBundleBody,
        response: { 201: Bundle },
      },
    },
    async (request, reply) => {
      const { name, kind, url, adopt = false, poll_seconds: poll = DEFAULT_POLL_SECONDS, ...rest } = request.body;
      refuseSource({ kind, url }, allowedPaths);
      if (typeof rest.conn_id === 'string' || typeof rest.webhook_conn_id === 'string')
        requirePermission(request, 'write:connection');
      const createdBy = principalOf(request).email;
      const bundle = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (!adopt && (await hasUnmanagedDags(trx, name)))
            throw new ApiError(
              'already_exists',
              `"svc deploy" has registered DAGs of a bundle "${name}": choose another name, or take them over with adopt`,
            );
          const isNew = await insertBundle(trx, {
            name,
            kind,
            url,
            ref: rest.ref ?? '',
            folder: rest.folder ?? '',
            conn_id: rest.conn_id ?? null,
            on_error: rest.on_error ?? 'refuse',
            adopts: adopt,
            poll_seconds: poll,
            commit_url: rest.commit_url ?? null,
            webhook_conn_id: rest.webhook_conn_id ?? null,
            created_by: createdBy,
            asked_by: createdBy,
          });
          if (!isNew) throw new ApiError('already_exists', `there is a bundle "${name}" already: change it with PATCH`);
          await audit(trx, request, 'post_bundle', name, { url: placeOf(url) });
          return bundleOf(trx, name);
        });
      wakeBundles();
      return reply.code(201).send(bundleBody(bundle));
    },
  );

  app.patch(
    '/api/v2/bundles/:bundle',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'patch_bundle',
        tags: TAGS,
        summary: 'Change the settings of a bundle, and sync it',
        description:
          'What is left out stays. A bundle with `conn_id` also needs `write:connection`, because the source gets the secret.',
        params: BundleParams,
        body: BundleUpdate,
        response: { 200: Bundle },
      },
    },
    async (request) => {
      const { bundle: name } = request.params;
      const { adopt, ...change } = request.body;
      const bundle = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const before = await bundleOf(trx, name);
          if (change.url !== undefined) refuseSource({ kind: before.kind, url: change.url }, allowedPaths);
          const connection = change.conn_id === undefined ? before.conn_id : change.conn_id;
          if (connection !== null || typeof change.webhook_conn_id === 'string')
            requirePermission(request, 'write:connection');
          await updateBundle(trx, {
            name,
            change: { ...change, ...(adopt !== undefined && { adopts: adopt }) },
            by: principalOf(request).email,
          });
          await audit(trx, request, 'patch_bundle', name, {
            changed: Object.keys(request.body),
            ...(change.url !== undefined && { url: placeOf(change.url) }),
          });
          return bundleOf(trx, name);
        });
      wakeBundles();
      return bundleBody(bundle);
    },
  );

  app.delete(
    '/api/v2/bundles/:bundle',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'delete_bundle',
        tags: TAGS,
        summary: 'Remove a bundle with its deployments; its DAGs become stale and keep their history',
        params: BundleParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { bundle: name } = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (!(await deleteBundle(trx, name))) throw noSuchBundle(name);
          await audit(trx, request, 'delete_bundle', name);
        });
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/api/v2/bundles/:bundle/sync',
    {
      config: { access: 'write:dag' },
      schema: {
        operationId: 'post_bundle_sync',
        tags: TAGS,
        summary: 'Ask for a sync, also of a commit that was undone',
        description:
          'The sync has ended when `sync.answered` of the bundle has reached `sync.requested` of this answer.',
        params: BundleParams,
        response: { 202: Bundle },
      },
    },
    async (request, reply) => {
      const { bundle: name } = request.params;
      const bundle = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if (!(await askForSync(trx, name, principalOf(request).email))) throw noSuchBundle(name);
          await audit(trx, request, 'post_bundle_sync', name);
          return bundleOf(trx, name);
        });
      wakeBundles();
      return reply.code(202).send(bundleBody(bundle));
    },
  );
}

/** A scan of hosts and ports by sources of bundles is in the audit log. A query may hold a token. */
const placeOf = (url: string): string => url.replace(/[?#].*$/, '');

function refuseSource(source: Parameters<typeof refusedSource>[0], allowedPaths: readonly string[]): void {
  const reason = refusedSource(source, allowedPaths);
  if (reason !== undefined) throw new ApiError('invalid_request', reason);
}

const audit = (
  trx: TenantDb,
  request: FastifyRequest,
  event: string,
  name: string,
  detail: Record<string, unknown> = {},
): Promise<void> => recordAudit(trx, actorOf(request), { event, objectKind: 'bundle', objectId: name, detail });
