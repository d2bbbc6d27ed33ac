/** get_variable, set_variable, delete_variable, get_connection. */
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { Actor } from '../../db/identity/audit-log.ts';
import type { Database } from '../../db/database.ts';
import { deleteVariables, saveVariables } from '../../db/secrets/variables.ts';
import type { Keyring } from '../../vault/keyring.ts';
import { variablePlace } from '../../vault/vault.ts';
import { RpcError } from '../rpc-errors.ts';
import type { SecretDelivery } from '../secret-delivery.ts';
import type { CallContext, CallMethod, CallResult } from './call-context.ts';

const MAX_KEY_LENGTH = 250;
/** As through the API. */
const MAX_VALUE_LENGTH = 262_144;

type SecretMethod = 'get_variable' | 'set_variable' | 'delete_variable' | 'get_connection';

export function secretCalls(input: {
  db: Database;
  keyring: Keyring;
  delivery: SecretDelivery;
}): Record<SecretMethod, CallMethod> {
  const { db, keyring, delivery } = input;
  return {
    async get_variable(context) {
      const key = context.params.text('key');
      const found = await delivery.one(context, 'variable', key);
      if (!found) throw new RpcError('not_found', `there is no variable ${key}`);
      return { json: JSON.stringify({ key, value: found.text }), masks: found.masks };
    },

    async get_connection(context) {
      const id = context.params.text('id');
      const found = await delivery.one(context, 'connection', id);
      if (!found) throw new RpcError('not_found', `there is no connection ${id}`);
      return { json: found.text, masks: found.masks };
    },

    async set_variable(context) {
      const key = context.params.text('key');
      const value = context.params.text('value');
      const description = context.params.optionalText('description');
      checkSizes(key, value);
      delivery.checkWrite(context, key);
      const { tenantId } = context.identity;
      const stored = keyring.canSeal
        ? { value_plain: null, value_sealed: keyring.seal(value, variablePlace(tenantId, key)) }
        : { value_plain: value, value_sealed: null };
      return writing(db, context, async (trx) => {
        await saveVariables(trx, [key], (_key, before) => ({
          key,
          ...stored,
          description: description ?? before?.description ?? null,
        }));
        await audit(trx, context, 'post_variable', key);
      });
    },

    async delete_variable(context) {
      const key = context.params.text('key');
      delivery.checkWrite(context, key);
      return writing(db, context, async (trx) => {
        const deleted = await deleteVariables(trx, [key]);
        if (deleted.length > 0) await audit(trx, context, 'delete_variable', key);
      });
    },
  };
}

type Transaction = Parameters<typeof recordAudit>[0];

async function writing(
  db: Database,
  { identity }: CallContext,
  change: (trx: Transaction) => Promise<void>,
): Promise<CallResult> {
  await db.tenant(identity.tenantId).transaction().execute(change);
  return { json: 'null' };
}

function checkSizes(key: string, value: string): void {
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw new RpcError('invalid', `the key of a variable must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  if (value.length > MAX_VALUE_LENGTH) {
    throw new RpcError('too_large', `the value of ${key} must have at most ${MAX_VALUE_LENGTH} characters`);
  }
}

function audit(trx: Transaction, { identity, runId }: CallContext, event: string, key: string): Promise<void> {
  return recordAudit(trx, taskActor(identity.attemptId), {
    event,
    objectKind: 'variable',
    objectId: key,
    dagId: identity.dagId,
    runId,
    taskId: identity.taskId,
    mapIndex: identity.mapIndex,
  });
}

/** Who did it is a task; which one is in the entry's own columns. */
export const taskActor = (attemptId: string): Actor => ({ name: 'task', clientIp: '', requestId: attemptId });
