/** What was alerted: the list of alerts, and their acknowledgement. */
import { Type } from 'typebox';
import { acknowledgeAlert, findAlert, listAlerts } from '../../db/alerts/alerts.ts';
import type { ListedAlert } from '../../db/alerts/alerts.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { registerAlertRules } from './rules.ts';
import { Alert, AlertCollection } from './schemas.ts';

const TAGS = ['Alerts'];

export function registerAlerts(app: App, services: Services): void {
  registerAlertRules(app, services);
  const { db } = services;

  app.get(
    '/api/v2/alerts',
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_alerts',
        tags: TAGS,
        summary: 'List alerts and what was sent, newest first',
        querystring: Type.Object({
          ...PagingQuery,
          status: Type.Optional(Type.Enum(['open', 'over'] as ('open' | 'over')[])),
        }),
        response: { 200: AlertCollection },
      },
    },
    async (request) => {
      const { alerts, total } = await listAlerts(databaseOf(request, db), request.query);
      return { alerts: alerts.map(shown), total_entries: total };
    },
  );

  app.post(
    '/api/v2/alerts/:alert_id/acknowledge',
    {
      config: { access: 'write:dag_run' },
      schema: {
        operationId: 'acknowledge_alert',
        tags: TAGS,
        summary: 'Acknowledge an alert: it sends no more updates, only its end',
        params: Type.Object({ alert_id: Type.String({ format: 'uuid' }) }),
        response: { 200: Alert },
      },
    },
    async (request) => {
      const { alert_id: id } = request.params;
      const scope = databaseOf(request, db);
      await scope.transaction().execute(async (trx) => {
        if (!(await acknowledgeAlert(trx, id, principalOf(request).email))) throw noSuchAlert(id);
        await recordAudit(trx, actorOf(request), {
          event: 'acknowledge_alert',
          objectKind: 'alert',
          objectId: id,
          detail: {},
        });
      });
      const alert = await findAlert(scope, id);
      if (!alert) throw noSuchAlert(id);
      return shown(alert);
    },
  );
}

const noSuchAlert = (id: string): ApiError => new ApiError('not_found', `There is no alert ${id}`);

const shown = ({ detail: _detail, status, ...alert }: ListedAlert) => ({
  ...alert,
  status: status === 'over' ? ('over' as const) : ('open' as const),
});
