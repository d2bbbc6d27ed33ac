/**
 * Records a refused sign-in in the audit log of its tenant, or of the default tenant if the tenant is unknown. Any
 * client can cause refusals without limit, so each address gets a limited number of entries per minute. The log
 * contains all of them.
 */
import { scopedToTenant } from '../../db/database.ts';
import type { Database } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { countFailure, lockBudget } from '../../db/identity/login-failures.ts';
import { DEFAULT_TENANT, findTenantByName } from '../../db/identity/tenants.ts';
import type { Origin } from './admit.ts';
import type { SsoRefusal } from './refusals.ts';

const ENTRIES_PER_MINUTE = 30;
const MAX_TEXT_LENGTH = 320;

export async function recordRefusal(db: Database, input: { refusal: SsoRefusal; origin: Origin }): Promise<void> {
  const { refusal, origin } = input;
  const { person, reason } = refusal;
  await db.shared.transaction().execute(async (trx) => {
    const key = `sso ${origin.clientIp}`; // a separate budget: it does not use up the budget of passwords
    if ((await lockBudget(trx, key)).failures >= ENTRIES_PER_MINUTE) return;
    await countFailure(trx, key);
    const tenantId = person.tenantId ?? (await findTenantByName(trx, DEFAULT_TENANT))?.id;
    if (tenantId === undefined) return;
    await recordAudit(
      scopedToTenant(trx, tenantId),
      { name: cut(person.email ?? person.subject ?? 'unknown'), ...origin },
      {
        event: 'login_refused',
        objectKind: person.userId === undefined ? 'identity' : 'user',
        objectId: cut(person.userId ?? person.subject ?? 'unknown'),
        detail: { method: 'oidc', reason },
      },
    );
  });
}

const cut = (text: string): string => text.slice(0, MAX_TEXT_LENGTH).replaceAll('\u0000', '');
