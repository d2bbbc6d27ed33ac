// Runs beside the Airflow UI and touches nothing of it: adds the badge and the editor button, keeps the instance's name in
// the title of the tab.
const settings = document.getElementById('svc-shell')?.dataset ?? {};

const corner = document.createElement('div');
corner.id = 'svc-corner';
if (settings.edition) {
  const badge = document.createElement('span');
  badge.className = `svc-badge svc-${settings.edition}`;
  badge.textContent = settings.edition.toUpperCase();
  badge.title = `${settings.instance}: ${settings.edition} edition`;
  corner.append(badge);
}
document.body.append(corner);

// What the visitor may not use is not offered; who has no session yet comes back here after signing in.
/** @param {string} page */
async function offerEditor(page) {
  const response = await fetch(new URL('ui/auth/me', document.baseURI));
  if (!response.ok) return;
  /** @type {{ can_edit_workspace: boolean }} */
  const visitor = await response.json();
  if (!visitor.can_edit_workspace) return;
  const link = document.createElement('a');
  link.href = page;
  link.textContent = 'Edit DAGs';
  corner.prepend(link);
}
// The control plane may be gone just now; the UI beside this says so.
if (settings.editor) offerEditor(settings.editor).catch(() => undefined);

// The UI sets its own titles; the instance's name tells two tabs of two instances apart.
const named = () => {
  const name = settings.instance ?? '';
  if (name !== '' && !document.title.includes(name)) document.title = `${document.title} · ${name}`;
};
new MutationObserver(named).observe(document.querySelector('title') ?? document.head, {
  childList: true,
  characterData: true,
  subtree: true,
});
