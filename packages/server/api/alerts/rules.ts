/** Alert rules: what is told to whom. A rule names a connection, so writing one needs the right to write connections. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { deliver } from '../../alerts/sender.ts';
import { addressesOf } from '../../alerts/channels/email.ts';
import { testMessage } from '../../alerts/test-message.ts';
import { ChannelError } from '../../alerts/outbound.ts';
import { countRules, deleteRule, findRule, insertRule, listRules, muteRule } from '../../db/alerts/rules.ts';
import type { RuleRow } from '../../db/alerts/rules.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { createTestBudget, tooManyTests } from '../test-budget.ts';
import type { Services } from '../services.ts';
import { AlertRule, AlertRuleCollection, AlertTestResult, CreateAlertRuleBody, MuteAlertRuleBody } from './schemas.ts';

const TAGS = ['Alerts'];
const RULES = '/api/v2/alerts/rules';
/** Each failure is compared with every rule of its tenant. */
const MAX_RULES = 100;
const RuleParams = Type.Object({ rule_id: Type.String({ format: 'uuid' }) });

export function registerAlertRules(app: App, services: Services): void {
  registerRead(app, services);
  registerCreate(app, services);
  registerChange(app, services);
  registerTest(app, services);
}

function registerRead(app: App, { db }: Services): void {
  app.get(
    RULES,
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_alert_rules',
        tags: TAGS,
        summary: 'List alert rules by name, and which channels fail',
        querystring: Type.Object(PagingQuery),
        response: { 200: AlertRuleCollection },
      },
    },
    async (request) => {
      const { rules, total } = await listRules(databaseOf(request, db), request.query);
      return { rules: rules.map(shown), total_entries: total };
    },
  );
}

function registerCreate(app: App, { db }: Services): void {
  app.post(
    RULES,
    {
      config: { access: 'write:connection', refuses: ['conflict'] },
      schema: {
        operationId: 'post_alert_rule',
        tags: TAGS,
        summary: 'Create an alert rule',
        description: 'The secret of the channel is the password of the connection, which may come later.',
        body: CreateAlertRuleBody,
        response: { 201: AlertRule },
      },
    },
    async (request, reply) => {
      const { connection_id: connId, ...body } = request.body;
      checkRule(request.body);
      const rule = await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          if ((await countRules(trx)) >= MAX_RULES) {
            throw new ApiError(
              'conflict',
              `There are ${MAX_RULES} alert rules already, which is the limit: remove one`,
            );
          }
          const created = await insertRule(trx, {
            ...body,
            conn_id: connId,
            quiet_from: body.quiet_from ?? null,
            quiet_until: body.quiet_until ?? null,
            quiet_timezone: body.quiet_timezone ?? null,
            late_seconds: body.late_seconds ?? null,
            late_factor: body.late_factor ?? null,
            stuck_seconds: body.stuck_seconds ?? null,
            stale_seconds: body.stale_seconds ?? null,
            created_by: principalOf(request).email,
          });
          if (!created) {
            throw new ApiError(
              'conflict',
              `There is an alert rule ${body.name} already: choose another name, or remove it`,
            );
          }
          await recordAudit(trx, actorOf(request), auditOf('post_alert_rule', created));
          return created;
        });
      return reply.code(201).send(shown(rule));
    },
  );
}

function registerChange(app: App, { db }: Services): void {
  app.delete(
    `${RULES}/:rule_id`,
    {
      config: { access: 'write:connection' },
      schema: {
        operationId: 'delete_alert_rule',
        tags: TAGS,
        summary: 'Remove an alert rule, and what it has sent',
        params: RuleParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { rule_id: id } = request.params;
      await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const rule = await deleteRule(trx, id);
          if (!rule) throw noSuchRule(id);
          await recordAudit(trx, actorOf(request), auditOf('delete_alert_rule', rule));
        });
      return reply.code(204).send(null);
    },
  );

  app.post(
    `${RULES}/:rule_id/mute`,
    {
      config: { access: 'write:dag_run' },
      schema: {
        operationId: 'mute_alert_rule',
        tags: TAGS,
        summary: 'Mute an alert rule: new alerts are recorded and not sent',
        params: RuleParams,
        body: MuteAlertRuleBody,
        response: { 200: AlertRule },
      },
    },
    async (request) => {
      const { rule_id: id } = request.params;
      return await databaseOf(request, db)
        .transaction()
        .execute(async (trx) => {
          const rule = await muteRule(trx, id, request.body.until);
          if (!rule) throw noSuchRule(id);
          await recordAudit(trx, actorOf(request), auditOf('mute_alert_rule', rule));
          return shown(rule);
        });
    },
  );
}

/**
 * The tenant chooses the address, and the answer says whether something listens there. So a tenant has few tests a
 * minute, as for tests of connections, and the audit log has each of them.
 */
function registerTest(app: App, { db, alerts }: Services): void {
  const budget = createTestBudget(() => performance.now());
  app.post(
    `${RULES}/:rule_id/test`,
    {
      config: { access: 'write:connection', refuses: ['test_rate_limited'] },
      schema: {
        operationId: 'test_alert_rule',
        tags: TAGS,
        summary: 'Send a test message through the channel of a rule now',
        params: RuleParams,
        response: { 200: AlertTestResult },
      },
    },
    async (request) => {
      const { rule_id: id } = request.params;
      const scope = databaseOf(request, db);
      const rule = await findRule(scope, id);
      if (!rule) throw noSuchRule(id);
      const { tenantId, email } = principalOf(request);
      const waitMs = budget.take(tenantId);
      if (waitMs > 0) throw tooManyTests(waitMs, 'alert rules');
      await recordAudit(scope, actorOf(request), auditOf('test_alert_rule', rule));
      try {
        await deliver(alerts, { tenantId, rule, message: testMessage({ rule: rule.name, user: email }) });
        return { sent: true, message: `the ${rule.channel} channel took the message` };
      } catch (error) {
        if (error instanceof ChannelError) return { sent: false, message: error.message };
        throw error;
      }
    },
  );
}

function checkRule(body: Static<typeof CreateAlertRuleBody>): void {
  if (body.channel === 'slack_bot' && body.target === '') {
    throw new ApiError('invalid_request', 'target: name the channel of Slack, such as #alerts');
  }
  if (body.channel === 'email' && addressesOf(body.target).length === 0) {
    throw new ApiError('invalid_request', 'target: name the mail addresses, separated by commas');
  }
  if ((body.quiet_from === undefined) !== (body.quiet_until === undefined)) {
    throw new ApiError('invalid_request', 'quiet_from, quiet_until: give both, or neither');
  }
  if (body.quiet_timezone !== undefined && !isTimezone(body.quiet_timezone)) {
    throw new ApiError(
      'invalid_request',
      `quiet_timezone: there is no time zone ${JSON.stringify(body.quiet_timezone)}`,
    );
  }
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const shown = ({ conn_id: connId, ...rule }: RuleRow) => ({
  ...rule,
  connection_id: connId,
});

const noSuchRule = (id: string): ApiError => new ApiError('not_found', `There is no alert rule ${id}`);

const auditOf = (event: string, { id, name, channel, muted_until: mutedUntil }: RuleRow) => ({
  event,
  objectKind: 'alert_rule',
  objectId: id,
  detail: { name, channel, muted_until: mutedUntil },
});
