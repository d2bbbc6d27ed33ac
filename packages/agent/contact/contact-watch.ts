/** An agent that reaches no control plane for 15 minutes gives up: by then its attempts belong to others. */
import { coded } from '../coded.ts';
import type { ControlPlane } from './control-plane.ts';

const GIVE_UP_MS = 15 * 60_000;
const CHECK_MS = 1_000;

/** Calls `onLost` once. An open stream counts as contact, even when nothing is received on it. */
export function watchContact(input: {
  controlPlane: Pick<ControlPlane, 'lastContact'>;
  isConnected?: () => boolean;
  say: (text: string) => void;
  onLost: () => void;
}): void {
  const { controlPlane, isConnected = () => false, say, onLost } = input;
  const check = setInterval(() => {
    if (isConnected() || Date.now() - controlPlane.lastContact() < GIVE_UP_MS) return;
    clearInterval(check);
    say(coded('SVC8007', 'no control plane for 15 minutes: giving up'));
    onLost();
  }, CHECK_MS);
  check.unref();
}
