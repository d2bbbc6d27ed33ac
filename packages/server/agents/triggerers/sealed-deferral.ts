/** Arguments of triggers may hold secrets: where there is a key they are sealed, bound to the attempt that made them. */
import type { TriggerRow } from '../../db/schema.ts';
import type { Deferral } from '../../engine/shared/attempts.ts';
import type { Binding, Keyring } from '../../vault/keyring.ts';

type Column = 'kwargs' | 'next_kwargs';

const bindingOf = (tenantId: string, attemptId: string, column: Column): Binding => ({
  tenantId,
  table: 'triggers',
  row: attemptId,
  column,
});

/** What is not JSON is sealed. */
const isSealed = (text: string): boolean => text.startsWith('v1.');

export function sealDeferral(
  keyring: Keyring,
  deferral: Deferral,
  { tenantId, attemptId }: { tenantId: string; attemptId: string },
): Deferral {
  if (!keyring.canSeal) return deferral;
  return {
    ...deferral,
    kwargs: keyring.seal(deferral.kwargs, bindingOf(tenantId, attemptId, 'kwargs')),
    nextKwargs: keyring.seal(deferral.nextKwargs, bindingOf(tenantId, attemptId, 'next_kwargs')),
  };
}

export function openDeferral(
  keyring: Keyring,
  trigger: Pick<TriggerRow, 'tenant_id' | 'attempt_id' | 'kwargs' | 'next_kwargs'>,
): { kwargs: string; nextKwargs: string } {
  const open = (text: string, column: Column): string =>
    isSealed(text) ? keyring.unseal(text, bindingOf(trigger.tenant_id, trigger.attempt_id ?? '', column)) : text;
  return { kwargs: open(trigger.kwargs, 'kwargs'), nextKwargs: open(trigger.next_kwargs, 'next_kwargs') };
}
