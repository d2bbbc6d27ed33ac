// Signs in with POST /auth/token, which sets the session cookie, and goes on to where the visitor wanted to be.
import { byId } from './by-id.js';

const form = byId('login', HTMLFormElement);
const username = byId('username', HTMLInputElement);
const password = byId('password', HTMLInputElement);
const tenant = byId('tenant', HTMLInputElement);
const problem = byId('problem', HTMLElement);
const button = byId('sign-in', HTMLButtonElement);

/** Only a path on this site; the server has checked it too, but this page can be opened with any query. */
function destination() {
  const base = document.baseURI;
  const next = new URLSearchParams(location.search).get('next') ?? base;
  const target = new URL(next, base);
  return target.origin === location.origin ? target.href : base;
}

/** @param {string} message */
function show(message) {
  problem.textContent = message;
  problem.hidden = false;
}

/** @param {Response} response */
async function messageOf(response) {
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after') ?? 60);
    return `Too many failed attempts. Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  }
  /** @type {{ type?: string, detail?: string } | undefined} */
  const body = await response.json().catch(() => undefined);
  if (body?.type === 'urn:svc:error:tenant_disabled')
    return 'This tenant is disabled. An administrator of the platform can enable it.';
  if (response.status === 401) return 'The e-mail address or the password is wrong.';
  return body?.detail ?? `Signing in failed (HTTP ${response.status}).`;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  problem.hidden = true;
  button.disabled = true;
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        username: username.value,
        password: password.value,
        ...(tenant.value.trim() && { tenant: tenant.value.trim() }),
      }),
    });
    if (response.ok) {
      location.replace(destination());
      return;
    }
    show(await messageOf(response));
    password.select();
  } catch {
    show('The control plane does not answer. Is it running?');
  }
  button.disabled = false;
});
