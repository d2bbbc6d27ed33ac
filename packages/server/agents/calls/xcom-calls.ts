/** get_xcom, set_xcom, delete_xcom. A task reads any value of its tenant and writes only its own. */
import { isFolderName } from '@svc/spec/ids.ts';
import {
  deleteXcomsOfAttempt,
  readPriorXcoms,
  readXcomsOfRun,
  writeXcomOfAttempt,
} from '../../db/attempts/attempt-xcoms.ts';
import type { XcomEntry } from '../../db/attempts/attempt-xcoms.ts';
import { findKeyOfRun, findLogicalDate } from '../../db/dag-runs/run-lookups.ts';
import type { Database } from '../../db/database.ts';
import { createValueCache } from '../../xcom/value-cache.ts';
import type { ValueCache } from '../../xcom/value-cache.ts';
import { itemCount } from '../../xcom/value.ts';
import { RpcError } from '../rpc-errors.ts';
import { valueFault } from '../value-fault.ts';
import type { CallContext, CallMethod } from './call-context.ts';

/** The largest message that the task process accepts, minus some room for the other fields. */
const MAX_REPLY_BYTES = 15 * 1024 * 1024;
const MAX_KEY_LENGTH = 512;

export function xcomCalls(input: {
  db: Database;
  maxBytes: number;
  valueCache?: ValueCache;
}): Record<'get_xcom' | 'set_xcom' | 'delete_xcom', CallMethod> {
  const { db, maxBytes, valueCache: cache = createValueCache(null) } = input;
  return {
    async get_xcom(context) {
      const { identity, params } = context;
      const key = params.optionalText('key') ?? 'return_value';
      const mapIndex = params.optionalInteger('map_index') ?? null;
      const taskId = params.isNull('task_id') ? null : (params.optionalText('task_id') ?? identity.taskId);
      const dagId = params.optionalText('dag_id') ?? identity.dagId;
      const { tenantId } = identity;
      const scoped = db.tenant(tenantId);
      if (params.flag('include_prior_dates') && taskId !== null) {
        const upTo = await findLogicalDate(scoped, identity.run);
        if (upTo !== null) {
          const query = { tenantId, dagId, taskId, mapIndex, key, upTo };
          return entries(await cache.readThrough((without) => readPriorXcoms(scoped, query, without)));
        }
      }
      const run = await runOf(db, context, dagId);
      if (run === undefined) return entries([]);
      const query = { run, taskId, mapIndex, key };
      return entries(await cache.readThrough((without) => readXcomsOfRun(scoped, query, without)));
    },

    async set_xcom({ identity, params }) {
      const key = params.text('key');
      if (key === '' || key.length > MAX_KEY_LENGTH) {
        throw new RpcError('invalid', `the key of a value must have 1 to ${MAX_KEY_LENGTH} characters`);
      }
      if (isFolderName(key))
        throw new RpcError('invalid', `a value cannot be called "${key}": it means a folder in a URL`);
      const value = params.jsonText('value');
      const bytes = Buffer.byteLength(value);
      if (bytes > maxBytes) {
        throw new RpcError(
          'too_large',
          `the value for ${key} has ${bytes} bytes of JSON, more than xcom.max_bytes (${maxBytes}): write it to storage and pass its place`,
        );
      }
      const fault = await valueFault(value, `the value for ${key}`);
      if (fault !== undefined) throw new RpcError('invalid', fault);
      const version = cache.versionFor(value);
      const entry = { dagId: identity.dagId, key, value, length: itemCount(value), version };
      const wasLive = await writeXcomOfAttempt(db.tenant(identity.tenantId), identity, entry);
      if (wasLive) cache.written(identity.tenantId, version, value);
      return done(wasLive);
    },

    async delete_xcom({ identity, params }) {
      const key = params.optionalText('key') ?? null;
      return done(await deleteXcomsOfAttempt(db.tenant(identity.tenantId), identity, key));
    },
  };
}

function done(wasLive: boolean): { json: string } {
  if (!wasLive) throw new RpcError('stale', 'the attempt is over: nothing was written');
  return { json: 'null' };
}

function entries(found: readonly (XcomEntry & { value: string })[]): { json: string } {
  const texts = found.map(({ value, task_id, map_index, key: name }) => {
    const key = { task_id, map_index, key: name };
    return `${JSON.stringify(key).slice(0, -1)},"value":${value}}`;
  });
  const json = `[${texts.join(',')}]`;
  if (Buffer.byteLength(json) > MAX_REPLY_BYTES) {
    throw new RpcError(
      'too_large',
      `${found.length} values have more than ${MAX_REPLY_BYTES} bytes together: pull them one by one, by map index`,
    );
  }
  return { json };
}

/** Returns another DAG's run, with the same run id unless one is named. This is what xcom_pull(dag_id=…) means. */
async function runOf(
  db: Database,
  { identity, runId, params }: CallContext,
  dagId: string,
): Promise<number | undefined> {
  const wanted = params.optionalText('run_id') ?? runId;
  if (dagId === identity.dagId && wanted === runId) return identity.run;
  return findKeyOfRun(db.tenant(identity.tenantId), dagId, wanted);
}
