import type { Config } from './config/load.ts';
import { readSecretKeys } from './config/secret-key.ts';
import { createKeyring } from './vault/keyring.ts';
import type { Keyring } from './vault/keyring.ts';

/** Creates the keyring of the configured keys. The boot checks have refused unreadable ones. */
export function openKeyring(config: Pick<Config, 'secretKey' | 'secretKeyPrevious'>): Keyring {
  const { keys } = readSecretKeys(config);
  return createKeyring({ current: keys.current ?? null, previous: keys.previous });
}
