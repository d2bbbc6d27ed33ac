/** Nothing of a tenant that is disabled is made or started; what runs goes on to its end. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

/** For a row of `dags` under this name. Plan: the tenants by their key. */
export const ofActiveTenant = (dag: string): RawBuilder<boolean> => sql<boolean>`
  exists (select from tenants where tenants.id = ${sql.ref(`${dag}.tenant_id`)} and tenants.disabled_at is null)`;

/** Whether runs of the DAG do not start: as the DAG says, and as its tenant does. */
export const isHeld = (dag: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(`${dag}.is_paused`)} or not ${ofActiveTenant(dag)})`;
