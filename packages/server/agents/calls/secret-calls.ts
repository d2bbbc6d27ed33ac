/** get_variable, set_variable, delete_variable, get_connection. */
import { isFolderName } from '@svc/spec/ids.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { deleteVariables, saveVariables } from '../../db/secrets/variables.ts';
import type { Keyring } from '../../vault/keyring.ts';
import { variableBinding } from '../../vault/vault.ts';
import { RpcError } from '../rpc-errors.ts';
import type { SecretDelivery } from '../secret-delivery.ts';
import { recordTaskAudit } from '../task-audit.ts';
import type { CallContext, CallMethod, CallResult } from './call-context.ts';

const MAX_KEY_LENGTH = 250;
/** The same limit as in the API. */
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
        ? { value_plain: null, value_sealed: keyring.seal(value, variableBinding(tenantId, key)) }
        : { value_plain: value, value_sealed: null };
      return writing(db, context, async (trx) => {
        await saveVariables(trx, [key], (_key, before) => ({
          key,
          ...stored,
          description: description ?? before?.description ?? null,
        }));
        await recordTaskAudit(trx, context, { event: 'post_variable', objectKind: 'variable', objectId: key });
      });
    },

    async delete_variable(context) {
      const key = context.params.text('key');
      delivery.checkWrite(context, key);
      return writing(db, context, async (trx) => {
        const deleted = await deleteVariables(trx, [key]);
        if (deleted.length > 0) {
          await recordTaskAudit(trx, context, { event: 'delete_variable', objectKind: 'variable', objectId: key });
        }
      });
    },
  };
}

async function writing(
  db: Database,
  { identity }: CallContext,
  change: (trx: TenantDb) => Promise<void>,
): Promise<CallResult> {
  await db.tenant(identity.tenantId).transaction().execute(change);
  return { json: 'null' };
}

function checkSizes(key: string, value: string): void {
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw new RpcError('invalid', `the key of a variable must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  if (isFolderName(key))
    throw new RpcError('invalid', `a variable cannot be called "${key}": it means a folder in a URL`);
  if (value.length > MAX_VALUE_LENGTH) {
    throw new RpcError('too_large', `the value of ${key} must have at most ${MAX_VALUE_LENGTH} characters`);
  }
}
