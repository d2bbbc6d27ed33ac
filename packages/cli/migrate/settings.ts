/** Migrates pools, variables and connections by name, in batches. Each batch is a transaction with one audit entry. */
import { refuseInvalidConnection, mergeConnection } from '@svc/server/api/connections/writes.ts';
import { CONNECTION_ID } from '@svc/server/api/connections/schemas.ts';
import type { ConnectionChange } from '@svc/server/api/connections/schemas.ts';
import { mergeVariable, variableChange } from '@svc/server/api/variables/writes.ts';
import { saveConnections } from '@svc/server/db/secrets/connections.ts';
import { saveVariables } from '@svc/server/db/secrets/variables.ts';
import { savePools } from '@svc/server/db/task-instances/pools.ts';
import type { SourceConnection, SourceVariable } from '@svc/server/db/imports/airflow/source-types.ts';
import { isStorableText } from '@svc/spec/storable.ts';
import { messageOf } from '../cli-error.ts';
import { inBatches, inTransaction, openSecret, recordImport } from './migration.ts';
import type { Migration } from './migration.ts';
import type { Entry, Kind, Outcome } from './report.ts';

const BATCH = 200;

/** Decides what happens to an entity, and why. `changed` names the fields that differ from the stored ones. */
function decide(
  { overwrites }: Migration,
  { isStored, changed }: { isStored: boolean; changed: readonly string[] },
): { outcome: Outcome; reason?: string } {
  if (!isStored) return { outcome: 'create' };
  if (changed.length === 0) return { outcome: 'same' };
  const reason = `differs in ${changed.join(', ')}`;
  return overwrites ? { outcome: 'change', reason } : { outcome: 'left', reason: `${reason}; --overwrite changes it` };
}

/** Runs one transaction and reports its entries afterwards, so that a retried transaction is reported once. */
async function inBatch(
  migration: Migration,
  kind: Kind,
  work: (trx: Parameters<Parameters<typeof inTransaction>[1]>[0], entries: Map<string, Entry>) => Promise<void>,
): Promise<void> {
  const entries = new Map<string, Entry>();
  await inTransaction(migration, async (trx) => {
    await work(trx, entries);
    await recordImport(migration, trx, { kind, done: [...entries.values()] });
  });
  for (const entry of entries.values()) migration.report.add(entry);
  const { create, change } = migration.report.countsOf(kind);
  migration.say(`${create + change} ${kind}`);
}

export async function migratePools(migration: Migration): Promise<void> {
  for await (const batch of inBatches(migration.source.pools(), BATCH)) {
    await inBatch(migration, 'pools', async (trx, entries) => {
      const pools = new Map(batch.map((pool) => [pool.name, pool]));
      const usable = [...pools.values()].filter(({ name, slots }) => {
        const reason =
          name === '' || name === '.' || name === '..' || name.length > 256
            ? 'its name is not one that a pool can have here'
            : slots < -1
              ? `it has ${slots} slots`
              : undefined;
        if (reason !== undefined) entries.set(name, { kind: 'pools', name, outcome: 'skip', reason });
        return reason === undefined;
      });
      await savePools(
        trx,
        usable.map(({ name }) => name),
        (name, stored) => {
          const pool = pools.get(name);
          if (!pool) return undefined;
          const values = {
            name,
            slots: pool.slots,
            description: pool.description || null,
            include_deferred: pool.includeDeferred,
          };
          const changed = (['slots', 'description', 'include_deferred'] as const).filter(
            (field) => stored !== undefined && (stored[field] || null) !== (values[field] || null),
          );
          const decision = decide(migration, { isStored: stored !== undefined, changed });
          entries.set(name, { kind: 'pools', name, ...decision });
          return isWritten(decision.outcome) ? values : undefined;
        },
      );
    });
  }
}

const isWritten = (outcome: Outcome): boolean => outcome === 'create' || outcome === 'change';

export async function migrateVariables(migration: Migration): Promise<void> {
  const { tenant, vault } = migration;
  for await (const batch of inBatches(migration.source.variables(), BATCH)) {
    await inBatch(migration, 'variables', async (trx, entries) => {
      const changes = new Map<string, ReturnType<typeof variableChange>>();
      for (const variable of batch) {
        const made = changeOfVariable(migration, variable);
        if ('reason' in made)
          entries.set(variable.key, { kind: 'variables', name: variable.key, outcome: 'skip', reason: made.reason });
        else changes.set(variable.key, made);
      }
      await saveVariables(trx, [...changes.keys()], (key, stored) => {
        const change = changes.get(key);
        if (!change) return undefined;
        const { values, changed } = mergeVariable({ tenantId: tenant.id, key, stored, change, vault });
        const decision = decide(migration, { isStored: stored !== undefined, changed });
        entries.set(key, { kind: 'variables', name: key, ...decision });
        return isWritten(decision.outcome) ? values : undefined;
      });
    });
  }
}

function changeOfVariable(
  { fernet }: Migration,
  { key, value, description }: SourceVariable,
): ReturnType<typeof variableChange> | { reason: string } {
  if (key === '' || key === '.' || key === '..' || key.length > 250)
    return { reason: 'its key is not one that a variable can have here' };
  const opened = openSecret(value, fernet);
  if ('problem' in opened) return { reason: `its value ${opened.problem}` };
  if (opened.text === undefined)
    return { reason: 'its value is masked by the API of Airflow: migrate from the database, or "svc variables set"' };
  if (!isStorableText(opened.text)) return { reason: 'its value has characters that cannot be stored (U+0000)' };
  try {
    return variableChange({ value: opened.text, description: description?.slice(0, 5_000) ?? '' });
  } catch (error) {
    return { reason: messageOf(error) };
  }
}

export async function migrateConnections(migration: Migration): Promise<void> {
  const { tenant, vault } = migration;
  for await (const batch of inBatches(migration.source.connections(), BATCH)) {
    await inBatch(migration, 'connections', async (trx, entries) => {
      const changes = new Map<string, { change: ConnectionChange; without: string | undefined }>();
      for (const connection of batch) {
        const made = changeOfConnection(migration, connection);
        if ('reason' in made)
          entries.set(connection.id, {
            kind: 'connections',
            name: connection.id,
            outcome: 'skip',
            reason: made.reason,
          });
        else changes.set(connection.id, made);
      }
      await saveConnections(trx, [...changes.keys()], (id, stored) => {
        const made = changes.get(id);
        if (!made) return undefined;
        const { change, without } = made;
        const { values, changed } = mergeConnection({ tenantId: tenant.id, connectionId: id, stored, change, vault });
        const decision = decide(migration, { isStored: stored !== undefined, changed });
        const reason = [decision.reason, without].filter((text) => text !== undefined).join('; ') || undefined;
        entries.set(id, { kind: 'connections', name: id, outcome: decision.outcome, reason });
        return isWritten(decision.outcome) ? values : undefined;
      });
    });
  }
}

const ID = new RegExp(CONNECTION_ID, 'u');

function changeOfConnection(
  { fernet, vault }: Migration,
  connection: SourceConnection,
): { change: ConnectionChange; without: string | undefined } | { reason: string } {
  const { id, type, host, schema, login, port, description } = connection;
  if (!ID.test(id) || id.length > 200) return { reason: 'its id is not one that a connection can have here' };
  if (type === '') return { reason: 'it has no type' };
  if (port !== null && (port < 0 || port > 65_535)) return { reason: `its port is ${port}` };
  const password = openSecret(connection.password, fernet);
  if ('problem' in password) return { reason: `its password ${password.problem}` };
  const extra = openSecret(connection.extra, fernet);
  if ('problem' in extra) return { reason: `its extra ${extra.problem}` };
  const tooLong = [host, schema, login, description, password.text].some((text) => (text?.length ?? 0) > 5_000);
  if (tooLong || (extra.text?.length ?? 0) > 65_536)
    return { reason: 'a field of it is longer than can be stored here' };
  if ([password.text, extra.text].some((text) => text !== undefined && !isStorableText(text)))
    return { reason: 'a field of it has characters that cannot be stored (U+0000)' };
  if ((password.text || extra.text) && !vault.canSeal)
    return { reason: 'it has secrets, and there is no key to encrypt them with: set SVC_SECRET_KEY' };
  const change: ConnectionChange = {
    conn_type: type,
    description: description ?? '',
    host: host ?? '',
    schema: schema ?? '',
    login: login ?? '',
    port: port ?? '',
    ...(password.text !== undefined && { password: password.text }),
    ...(extra.text !== undefined && { extra: extra.text }),
  };
  try {
    refuseInvalidConnection(change);
  } catch (error) {
    return { reason: messageOf(error) };
  }
  const missing = [
    ...(password.text === undefined ? ['password'] : []),
    ...(extra.text === undefined ? ['extra'] : []),
  ];
  const without =
    missing.length === 0
      ? undefined
      : `without its ${missing.join(' and ')}, which the API of Airflow does not give out: set by hand, or migrate from the database`;
  return { change, without };
}
