/** get_xcom, set_xcom, delete_xcom. A task reads any value of its tenant and writes its own only. */
import type { Database } from '../../db/database.ts';
import type { AttemptXcoms, XcomEntry } from '../attempt-xcoms.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallContext, CallMethod } from './call-context.ts';

/** What the task's end of the line takes in one piece, with some room for what is around it. */
const MAX_REPLY_BYTES = 15 * 1024 * 1024;
const MAX_KEY_LENGTH = 512;

export function xcomCalls(input: {
  db: Database;
  xcoms: AttemptXcoms;
  maxBytes: number;
}): Record<'get_xcom' | 'set_xcom' | 'delete_xcom', CallMethod> {
  const { db, xcoms, maxBytes } = input;
  return {
    async get_xcom(context) {
      const { identity, params } = context;
      const key = params.optionalText('key') ?? 'return_value';
      const mapIndex = params.optionalInteger('map_index') ?? null;
      const taskId = params.isNull('task_id') ? null : (params.optionalText('task_id') ?? identity.taskId);
      const dagId = params.optionalText('dag_id') ?? identity.dagId;
      const { tenantId } = identity;
      if (params.flag('include_prior_dates') && taskId !== null) {
        const upTo = await logicalDate(db, context);
        if (upTo !== null) return entries(await xcoms.readPrior({ tenantId, dagId, taskId, mapIndex, key, upTo }));
      }
      const run = await runOf(db, context, dagId);
      return entries(run === undefined ? [] : await xcoms.read({ tenantId, run, taskId, mapIndex, key }));
    },

    async set_xcom({ identity, params }) {
      const key = params.text('key');
      if (key === '' || key.length > MAX_KEY_LENGTH) {
        throw new RpcError('invalid', `the key of a value must have 1 to ${MAX_KEY_LENGTH} characters`);
      }
      const value = params.jsonText('value');
      const bytes = Buffer.byteLength(value);
      if (bytes > maxBytes) {
        throw new RpcError(
          'too_large',
          `the value for ${key} has ${bytes} bytes of JSON, more than xcom.max_bytes (${maxBytes}): write it to storage and pass its place`,
        );
      }
      return done(await xcoms.write(identity, identity.dagId, { key, value }));
    },

    async delete_xcom({ identity, params }) {
      return done(await xcoms.remove(identity, params.optionalText('key') ?? null));
    },
  };
}

function done(answer: 'done' | 'stale'): { json: string } {
  if (answer === 'stale') throw new RpcError('stale', 'the attempt is over: nothing was written');
  return { json: 'null' };
}

function entries(found: readonly XcomEntry[]): { json: string } {
  const texts = found.map(({ value, ...place }) => `${JSON.stringify(place).slice(0, -1)},"value":${value}}`);
  const json = `[${texts.join(',')}]`;
  if (Buffer.byteLength(json) > MAX_REPLY_BYTES) {
    throw new RpcError(
      'too_large',
      `${found.length} values have more than ${MAX_REPLY_BYTES} bytes together: pull them one by one, by map index`,
    );
  }
  return { json };
}

/** Another DAG's run of the same id, unless one is named: what xcom_pull(dag_id=…) means. */
async function runOf(
  db: Database,
  { identity, runId, params }: CallContext,
  dagId: string,
): Promise<number | undefined> {
  const wanted = params.optionalText('run_id') ?? runId;
  if (dagId === identity.dagId && wanted === runId) return identity.run;
  const row = await db
    .tenant(identity.tenantId)
    .selectFrom('dag_runs')
    .select('id')
    .where('dag_id', '=', dagId)
    .where('run_id', '=', wanted)
    .executeTakeFirst();
  return row?.id;
}

async function logicalDate(db: Database, { identity }: CallContext): Promise<string | null> {
  const row = await db
    .tenant(identity.tenantId)
    .selectFrom('dag_runs')
    .select('logical_date')
    .where('id', '=', identity.run)
    .executeTakeFirst();
  return row?.logical_date ?? null;
}
