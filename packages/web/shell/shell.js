// Runs beside the Airflow UI and touches nothing of it: adds the badge and the editor button, keeps the instance's name in
// the title of the tab.
const settings = document.getElementById('svc-shell')?.dataset ?? {};

const corner = document.createElement('div');
corner.id = 'svc-corner';
if (settings.editor) {
  const link = document.createElement('a');
  link.href = settings.editor;
  link.textContent = 'Edit DAGs';
  corner.append(link);
}
if (settings.edition) {
  const badge = document.createElement('span');
  badge.className = `svc-badge svc-${settings.edition}`;
  badge.textContent = settings.edition.toUpperCase();
  badge.title = `${settings.instance}: ${settings.edition} edition`;
  corner.append(badge);
}
if (corner.childElementCount > 0) document.body.append(corner);

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
