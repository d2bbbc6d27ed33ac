/**
 * The state stores as tasks use them: get, set, delete and clear, for the instance of the task and for an asset. A task
 * writes the state of its own instance, and of any asset of its tenant.
 */
import { isFolderName } from '@svc/spec/ids.ts';
import { deleteAssetStates, findAssetIds, findAssetState, putAssetState } from '../../db/assets/asset-states.ts';
import type { StateWriter } from '../../db/assets/asset-states.ts';
import type { Database } from '../../db/database.ts';
import { deleteTaskStates, findTaskState, putTaskState } from '../../db/task-instances/task-states.ts';
import type { Expiry, WriteAnswer } from '../../db/task-instances/task-states.ts';
import { defaultExpiry, keyProblem, tooManyKeys, valueTooLarge } from '../../xcom/state-limits.ts';
import type { StateStoreLimits } from '../../xcom/state-limits.ts';
import { RpcError } from '../rpc-errors.ts';
import { valueFault } from '../value-fault.ts';
import type { CallContext, CallMethod, CallResult, Params } from './call-context.ts';

type Verb = 'get' | 'set' | 'delete' | 'clear';
type StateMethod = `${Verb}_${'task' | 'asset'}_state`;

/** Calls whose own statement is fenced. */
export const FENCED_STATE_CALLS: readonly StateMethod[] = [
  'set_task_state',
  'delete_task_state',
  'clear_task_state',
  'set_asset_state',
  'delete_asset_state',
  'clear_asset_state',
];

export function stateCalls(input: { db: Database; stateStore: StateStoreLimits }): Record<StateMethod, CallMethod> {
  const { db, stateStore: limits } = input;
  return {
    async get_task_state({ identity, params }) {
      return entry(await findTaskState(db.tenant(identity.tenantId), identity, params.text('key')));
    },

    async set_task_state({ identity, params }) {
      const { key, value } = await keyAndValue(params, limits);
      const expiry = expiryOf(params, limits);
      const { maxKeys } = limits;
      const answer = await putTaskState(db.tenant(identity.tenantId), identity, { key, value, expiry, maxKeys });
      return written(answer, limits, 'the task instance');
    },

    async delete_task_state({ identity, params }) {
      return done(await deleteTaskStates(db.tenant(identity.tenantId), identity, params.text('key')));
    },

    async clear_task_state({ identity }) {
      return done(await deleteTaskStates(db.tenant(identity.tenantId), identity, null));
    },

    async get_asset_state(context) {
      const { params } = context;
      const { assetId } = await assetOf(db, context);
      return entry(await findAssetState(db.tenant(context.identity.tenantId), assetId, params.text('key')));
    },

    async set_asset_state(context) {
      const { key, value } = await keyAndValue(context.params, limits);
      const asset = await assetOf(db, context);
      const { maxKeys } = limits;
      const state = { key, value, maxKeys, writer: writerOf(context) };
      const answer = await putAssetState(db.tenant(asset.tenantId), asset, state);
      return written(answer, limits, 'the asset');
    },

    async delete_asset_state(context) {
      const asset = await assetOf(db, context);
      const what = { key: context.params.text('key'), writer: writerOf(context) };
      return done(await deleteAssetStates(db.tenant(asset.tenantId), asset, what));
    },

    async clear_asset_state(context) {
      const asset = await assetOf(db, context);
      const what = { key: null, writer: writerOf(context) };
      return done(await deleteAssetStates(db.tenant(asset.tenantId), asset, what));
    },
  };
}

const writerOf = ({ identity, runId }: CallContext): StateWriter => ({ attempt: identity, runId });

/** Null: there is no such value. */
const entry = (found: { value: string } | undefined): CallResult => ({
  json: found === undefined ? 'null' : `{"value":${found.value}}`,
});

function done(wasLive: boolean): CallResult {
  if (!wasLive) throw new RpcError('stale', 'the attempt is over: nothing was written');
  return { json: 'null' };
}

function written(answer: WriteAnswer, limits: StateStoreLimits, owner: string): CallResult {
  if (answer === 'full') throw new RpcError('too_large', tooManyKeys(limits, owner));
  return done(answer === 'written');
}

async function keyAndValue(params: Params, limits: StateStoreLimits): Promise<{ key: string; value: string }> {
  const key = params.text('key');
  const problem = keyProblem(key);
  if (problem !== undefined) throw new RpcError('invalid', problem);
  if (isFolderName(key)) throw new RpcError('invalid', `a key cannot be "${key}": it means a folder in a URL`);
  const value = params.jsonText('value');
  const tooLarge = valueTooLarge(key, value, limits);
  if (tooLarge !== undefined) throw new RpcError('too_large', tooLarge);
  const fault = await valueFault(value, `the value of ${key}`);
  if (fault !== undefined) throw new RpcError('invalid', fault);
  return { key, value };
}

/** `expires_in` counts seconds. Without it and without `never_expires`, the configured time counts. */
function expiryOf(params: Params, limits: StateStoreLimits): Expiry {
  if (params.flag('never_expires')) return 'never';
  const seconds = params.optionalInteger('expires_in');
  return seconds === undefined ? defaultExpiry(limits) : { inMs: seconds * 1_000 };
}

/** The asset that the call names. */
async function assetOf(
  db: Database,
  { identity, params }: CallContext,
): Promise<{ tenantId: string; assetId: number }> {
  const { tenantId } = identity;
  const [name, uri] = [params.optionalText('name'), params.optionalText('uri')];
  if (name === undefined && uri === undefined) throw new RpcError('invalid', 'name an asset by its name or its uri');
  const found = await findAssetIds(db.tenant(tenantId), { name, uri });
  const [assetId] = found;
  const shown = name === undefined ? `the uri ${uri}` : `the name ${name}`;
  if (assetId === undefined) throw new RpcError('not_found', `there is no asset with ${shown}`);
  if (found.length > 1) throw new RpcError('invalid', `several assets have ${shown}: name one by its name and its uri`);
  return { tenantId, assetId };
}
