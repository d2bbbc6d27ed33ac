// Tells the server that the person agrees, and goes on to where the command line waits on this computer.
import { byId } from './by-id.js';

const button = byId('approve', HTMLButtonElement);
const problem = byId('problem', HTMLElement);

/** @param {string} message */
function show(message) {
  problem.textContent = message;
  problem.hidden = false;
}

button.addEventListener('click', async () => {
  button.disabled = true;
  try {
    const response = await fetch('api/v2/auth/oidc/cli/approve', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ticket: button.dataset['ticket'] }),
    });
    /** @type {{ location?: string, detail?: string } | undefined} */
    const body = await response.json().catch(() => undefined);
    if (response.ok && body?.location) {
      location.replace(body.location);
      return;
    }
    show(body?.detail ?? `That failed (HTTP ${response.status}).`);
  } catch {
    show('The control plane does not answer. Is it running?');
  }
});
