// Signs in with POST /auth/token, which sets the session cookie, and goes on to where the visitor wanted to be.

const form = document.querySelector('#login');
const problem = document.querySelector('#problem');
const button = form.querySelector('button');

/** Only a path on this site; the server has checked it too, but this page can be opened with any query. */
function destination() {
  const base = document.querySelector('base').href;
  const next = new URLSearchParams(location.search).get('next') ?? base;
  const target = new URL(next, base);
  return target.origin === location.origin ? target.href : base;
}

function show(message) {
  problem.textContent = message;
  problem.hidden = false;
}

async function messageOf(response) {
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after') ?? 60);
    return `Too many failed attempts. Try again in ${seconds} second${seconds === 1 ? '' : 's'}.`;
  }
  if (response.status === 401) return 'The e-mail address or the password is wrong.';
  const body = await response.json().catch(() => undefined);
  return body?.detail ?? `Signing in failed (HTTP ${response.status}).`;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { username, password, tenant } = Object.fromEntries(new FormData(form));
  problem.hidden = true;
  button.disabled = true;
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password, ...(tenant.trim() && { tenant: tenant.trim() }) }),
    });
    if (response.ok) {
      location.replace(destination());
      return;
    }
    show(await messageOf(response));
    form.elements.password.select();
  } catch {
    show('The control plane does not answer. Is it running?');
  }
  button.disabled = false;
});
