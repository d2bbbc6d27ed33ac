import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import { createCompileValues, createFingerprints } from './vault/compile-values.ts';
import type { CompileValues } from './vault/compile-values.ts';
import type { Keyring } from './vault/keyring.ts';

/** Returns what DAG files of a tenant may read while they are compiled. */
export function openCompileValues(input: {
  config: Config;
  db: Database;
  keyring: Keyring;
}): (tenantId: string) => CompileValues {
  const { config, db, keyring } = input;
  const fingerprint = createFingerprints(config.auth.jwt.secret);
  return (tenantId) =>
    createCompileValues({
      db: db.tenant(tenantId),
      tenantId,
      keyring,
      fingerprint,
      isEnforced: config.auth.secretScoping === 'enforce',
      backend: config.secrets.backend,
    });
}
