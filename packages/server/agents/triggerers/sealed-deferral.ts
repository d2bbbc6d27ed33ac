/**
 * Arguments of triggers may contain secrets. If there is a key they are sealed, bound to the attempt that created them.
 */
import type { TriggerRow } from '../../db/schema.ts';
import type { Deferral } from '../../engine/shared/attempts.ts';
import { isSealed } from '../../vault/keyring.ts';
import type { Keyring } from '../../vault/keyring.ts';
import { triggerBinding } from '../../vault/vault.ts';

export function sealDeferral(
  keyring: Keyring,
  deferral: Deferral,
  { tenantId, attemptId }: { tenantId: string; attemptId: string },
): Deferral {
  if (!keyring.canSeal) return deferral;
  return {
    ...deferral,
    kwargs: keyring.seal(deferral.kwargs, triggerBinding(tenantId, attemptId, 'kwargs')),
    nextKwargs: keyring.seal(deferral.nextKwargs, triggerBinding(tenantId, attemptId, 'next_kwargs')),
  };
}

export function openDeferral(
  keyring: Keyring,
  trigger: Pick<TriggerRow, 'tenant_id' | 'attempt_id' | 'kwargs' | 'next_kwargs'>,
): { kwargs: string; nextKwargs: string } {
  const open = (text: string, column: 'kwargs' | 'next_kwargs'): string =>
    isSealed(text) ? keyring.unseal(text, triggerBinding(trigger.tenant_id, trigger.attempt_id ?? '', column)) : text;
  return { kwargs: open(trigger.kwargs, 'kwargs'), nextKwargs: open(trigger.next_kwargs, 'next_kwargs') };
}
