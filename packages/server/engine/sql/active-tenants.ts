/** Of a disabled tenant nothing is created or started. What runs continues to its end. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** A condition on a row of `dags` with this alias. Query plan: the tenants by their key. */
export const ofActiveTenant = (dag: string): RawBuilder<boolean> => sql<boolean>`
  exists (select from tenants where tenants.id = ${sql.ref(`${dag}.tenant_id`)} and tenants.disabled_at is null)`;

/** True when runs of the DAG do not start, because the DAG is paused or its tenant is disabled. */
export const isHeld = (dag: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${dag}.is_paused`)} or not ${ofActiveTenant(dag)})`;
