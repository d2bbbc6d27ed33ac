/**
 * Webhooks of forges. They carry no token, so the route is public, and the signature decides. A webhook only lets the
 * control plane look at the source earlier; what it says is not used.
 */
import { Type } from 'typebox';
import { findBundle } from '../../db/bundles/bundles.ts';
import { lookSoon, recordDelivery } from '../../db/bundles/webhooks.ts';
import { DEFAULT_TENANT, findTenantByName } from '../../db/identity/tenants.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { verifyDelivery } from '../../delivery/webhook-signature.ts';
import { CredentialsError, readSecret } from '../../delivery/source-credentials.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { BundleParams } from './schemas.ts';

/** A push of many commits is described in detail. */
const MAX_BODY_BYTES = 5 * 1024 * 1024;
const DELIVERER = 'webhook';

/** The same for an unknown bundle and for a wrong signature, so that nobody learns which bundles there are. */
const refused = (): ApiError =>
  new ApiError(
    'webhook_refused',
    'the signature is missing or wrong, or the bundle takes no webhooks: compare the secret with the connection of the bundle',
  );

export function registerWebhook(app: App, { db, keyring, wakeBundles }: Services): void {
  app.register((scoped: App, _options: object, done: () => void) => {
    // The bytes that were signed, whatever type the sender gives them.
    scoped.removeAllContentTypeParsers();
    scoped.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, sent, parsed) =>
      parsed(null, sent),
    );
    scoped.post(
      '/api/v2/bundles/:bundle/webhook',
      {
        bodyLimit: MAX_BODY_BYTES,
        config: { access: 'public', refuses: ['webhook_refused', 'conflict'] },
        schema: {
          operationId: 'post_bundle_webhook',
          tags: ['Bundles'],
          summary: 'Tell that the source of a bundle has changed',
          description:
            'For GitHub, GitLab, Bitbucket and programs that sign as Standard Webhooks do. The secret is the password of the connection `webhook_conn_id`. A repeated delivery is refused with 409.',
          params: BundleParams,
          querystring: Type.Object({
            tenant: Type.String({ minLength: 1, maxLength: 63, default: DEFAULT_TENANT }),
          }),
          response: { 202: Type.Object({ bundle: Type.String() }, { title: 'AcceptedWebhook' }) },
        },
      },
      async (request, reply) => {
        const { bundle: name } = request.params;
        const tenant = await findTenantByName(db.shared, request.query.tenant);
        if (!tenant || tenant.disabled_at !== null) throw refused();
        const scope = db.tenant(tenant.id);
        const bundle = await findBundle(scope, name);
        if (!bundle?.webhook_conn_id) throw refused();
        const secret = await readSecret(scope, { tenantId: tenant.id, connId: bundle.webhook_conn_id, keyring }).catch(
          (error: unknown) => {
            if (!(error instanceof CredentialsError)) throw error;
            request.log.warn({ code: 'SVC6008', bundle: name, reason: error.message }, 'a webhook was refused');
            throw refused();
          },
        );
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const delivery = verifyDelivery({ headers: request.headers, body }, secret);
        if (delivery === undefined) throw refused();
        await scope.transaction().execute(async (trx) => {
          if (!(await recordDelivery(trx, name, delivery)))
            throw new ApiError('conflict', 'this delivery was received before: a replay changes nothing');
          await lookSoon(trx, name);
          await recordAudit(
            trx,
            { name: DELIVERER, clientIp: request.clientIp, requestId: request.id },
            { event: 'post_bundle_webhook', objectKind: 'bundle', objectId: name },
          );
        });
        wakeBundles();
        return reply.code(202).send({ bundle: name });
      },
    );
    done();
  });
}
