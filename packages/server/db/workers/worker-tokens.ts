/** The tokens with which workers on other hosts join, each for some queues of one tenant. Only a hash is stored. */
import { sql } from 'kysely';
import type { SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

export type WorkerTokenRow = {
  id: string;
  queues: string[];
  token_start: string;
  comment: string;
  created_by: string;
  created_at: Moment;
  expires_at: Moment | null;
  last_used_at: Moment | null;
};

const COLUMNS = [
  'id',
  'queues',
  'token_start',
  'comment',
  'created_by',
  'created_at',
  'expires_at',
  'last_used_at',
] as const;

export const insertWorkerToken = (
  db: TenantDb,
  token: {
    queues: readonly string[];
    hash: Buffer;
    start: string;
    comment: string;
    createdBy: string;
    expiresAt: Date | null;
  },
): Promise<WorkerTokenRow> =>
  db
    .insertInto('worker_tokens')
    .values({
      queues: [...token.queues],
      token_hash: token.hash,
      token_start: token.start,
      comment: token.comment,
      created_by: token.createdBy,
      expires_at: token.expiresAt,
    })
    .returning([...COLUMNS])
    .executeTakeFirstOrThrow();

export async function listWorkerTokens(
  db: TenantDb,
  page: { limit: number; offset: number },
): Promise<{ tokens: WorkerTokenRow[]; total: number }> {
  const [tokens, count] = await Promise.all([
    db
      .selectFrom('worker_tokens')
      .select([...COLUMNS])
      .orderBy('created_at')
      .orderBy('id')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    db
      .selectFrom('worker_tokens')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ]);
  return { tokens, total: count.total };
}

/**
 * Returns undefined when there is none. The process with the stream of a worker that joined with it dismisses the
 * worker.
 */
export const deleteWorkerToken = (db: TenantDb, id: string): Promise<WorkerTokenRow | undefined> =>
  db
    .deleteFrom('worker_tokens')
    .where('id', '=', id)
    .returning([...COLUMNS])
    .executeTakeFirst();

export type JoinToken = {
  id: string;
  tenantId: string;
  isTenantDisabled: boolean;
  queues: string[];
  hasExpired: boolean;
};

/** Returns the owner of the token, and records its use. Undefined for a token that was revoked or never existed. */
export async function useWorkerToken(db: SharedDb, hash: Buffer): Promise<JoinToken | undefined> {
  const { rows } = await sql<JoinToken>`
    update worker_tokens w set last_used_at = now() from tenants t
    where w.token_hash = ${hash} and t.id = w.tenant_id
    returning w.id, w.tenant_id as "tenantId", t.disabled_at is not null as "isTenantDisabled", w.queues,
      coalesce(w.expires_at <= now(), false) as "hasExpired"`.execute(db);
  return rows[0];
}

/**
 * Returns whether the token exists and its tenant is enabled. An expired token cannot be used to join, but its workers
 * continue.
 */
export async function isTokenLive(db: SharedDb, token: { tenantId: string; id: string }): Promise<boolean> {
  const { rows } = await sql`
    select 1 from worker_tokens w join tenants t on t.id = w.tenant_id
    where w.tenant_id = ${token.tenantId} and w.id = ${token.id} and t.disabled_at is null`.execute(db);
  return rows.length > 0;
}
