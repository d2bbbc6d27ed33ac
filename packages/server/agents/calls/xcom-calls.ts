/**
 * get_xcom, set_xcom, delete_xcom, and store_value and read_value for large values. A task reads any value of its tenant
 * and writes only its own.
 *
 * A large value travels in parts. `store_value` takes them in order, and `set_xcom` then names the stored value.
 * `get_xcom` answers with the id of such a value, and `read_value` with its parts.
 */
import { approximated } from '@svc/spec/exact-json.ts';
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
import type { StoredValues } from '../../xcom/stored/stored-values.ts';
import { PART_BYTES } from '../../xcom/stored/value-files.ts';
import { itemCount } from '../../xcom/value.ts';
import { RpcError } from '../rpc-errors.ts';
import { valueFault } from '../value-fault.ts';
import type { CallContext, CallMethod, Params } from './call-context.ts';

/** The largest message that the task process accepts, minus some room for the other fields. */
const MAX_REPLY_BYTES = 15 * 1024 * 1024;
const MAX_KEY_LENGTH = 512;

export function xcomCalls(input: {
  db: Database;
  maxBytes: number;
  /** The largest value that comes whole. */
  inlineMaxBytes: number;
  valueCache?: ValueCache;
  storedValues: StoredValues;
}): Record<'get_xcom' | 'set_xcom' | 'delete_xcom' | 'store_value' | 'read_value', CallMethod> {
  const { db, maxBytes, inlineMaxBytes, storedValues, valueCache: cache = createValueCache(null) } = input;
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
      if (bytes > inlineMaxBytes) {
        throw new RpcError(
          'too_large',
          `the value for ${key} has ${bytes} bytes of JSON, and more than ${inlineMaxBytes} are sent in parts, up to xcom.max_bytes (${maxBytes})`,
        );
      }
      const fault = await valueFault(value, `the value for ${key}`);
      if (fault !== undefined) throw new RpcError('invalid', fault);
      const stored = readStored(params.optionalObject('stored'));
      if (stored && (await storedValues.missing(identity, [stored.id])).length > 0)
        throw new RpcError('invalid', `the value for ${key} was not stored completely`);
      const version = cache.versionFor(value);
      const length = stored ? stored.length : params.has('length') ? lengthOf(params) : itemCount(value);
      const entry = { dagId: identity.dagId, key, value, length, version, stored: stored?.id };
      const wasLive = await writeXcomOfAttempt(db.tenant(identity.tenantId), identity, entry);
      if (wasLive) cache.written(identity.tenantId, version, value);
      return done(wasLive);
    },

    async store_value({ identity, params }) {
      const [id, bytes, offset] = [valueId(params), params.optionalInteger('bytes'), params.optionalInteger('offset')];
      const data = Buffer.from(params.text('data'), 'base64');
      if (bytes === undefined || bytes < 1 || offset === undefined || offset < 0 || offset % PART_BYTES !== 0)
        throw new RpcError('invalid', 'a part of a value needs the bytes of the value and its offset');
      if (bytes > maxBytes) {
        throw new RpcError(
          'too_large',
          `the value has ${bytes} bytes, more than xcom.max_bytes (${maxBytes}): write it to storage and pass its place`,
        );
      }
      const answer = await storedValues.append(identity, { id, bytes, offset, data });
      if ('refused' in answer) throw new RpcError('stale', `nothing was stored: ${answer.refused}`);
      return { json: JSON.stringify(answer) };
    },

    async read_value({ identity, params }) {
      const id = valueId(params);
      const part = params.optionalInteger('part') ?? 0;
      const { tenantId } = identity;
      const found = await storedValues.read(db.tenant(tenantId), { tenantId, id }, part);
      if (!found) throw new RpcError('not_found', 'the value is gone: its run was removed, or its task was cleared');
      return { json: `{"bytes":${found.bytes},"data":"${found.data.toString('base64')}"}` };
    },

    async delete_xcom({ identity, params }) {
      const key = params.optionalText('key') ?? null;
      return done(await deleteXcomsOfAttempt(db.tenant(identity.tenantId), identity, key));
    },
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function valueId(params: Params): string {
  const id = params.text('id');
  if (!UUID.test(id)) throw new RpcError('invalid', 'the id of a stored value is a UUID');
  return id;
}

/** The number of items of a value whose text does not say it, because a class of the author has made the text. */
function lengthOf(params: Params): number | null {
  const length = params.optionalInteger('length');
  if (length !== undefined && length < 0) throw new RpcError('invalid', 'length must not be negative');
  return length ?? null;
}

/** The length is that of the whole value, which this process has not read. */
function readStored(given: Record<string, unknown> | undefined): { id: string; length: number | null } | undefined {
  if (!given) return undefined;
  const { id } = given;
  const length = approximated(given['length']) ?? null;
  const isCount = typeof length === 'number' && Number.isInteger(length) && length >= 0 && length < 2 ** 31;
  if (typeof id !== 'string' || !UUID.test(id) || !(length === null || isCount))
    throw new RpcError('invalid', 'stored must have the id of a value and its number of items');
  return { id, length };
}

function done(wasLive: boolean): { json: string } {
  if (!wasLive) throw new RpcError('stale', 'the attempt is over: nothing was written');
  return { json: 'null' };
}

function entries(found: readonly (XcomEntry & { value: string })[]): { json: string } {
  const texts = found.map(({ value, task_id, map_index, key: name, stored }) => {
    const key = { task_id, map_index, key: name, ...(stored !== null && { stored }) };
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
