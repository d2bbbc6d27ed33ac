/** Exchanges the pod's own token for a credential. The kubelet renews the file, so it is read for each call. */
import { readFileSync } from 'node:fs';
import { Refusal } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { SettingsError } from '../settings.ts';

/** `versionKey`: the version that a worker serves; empty for an attempt. */
export async function exchangeToken(
  controlPlane: Pick<ControlPlane, 'callUntilAnswered'>,
  file: string,
  signal: AbortSignal,
): Promise<{ token: string; versionKey: string }> {
  const token = (): string => readFileSync(file, 'utf8').trim();
  try {
    const reply = await controlPlane.callUntilAnswered('Exchange', {}, { token, signal });
    return { token: reply.token, versionKey: reply.version_key };
  } catch (error) {
    if (signal.aborted) throw new SettingsError('stopped before the token of this pod was exchanged');
    if (!(error instanceof Refusal)) throw error;
    throw new SettingsError(`the token of this pod was not exchanged: ${error.message}`);
  }
}
