// Runs beside the Airflow UI: adds the badge and the editor button, keeps the instance's name in the title of the tab, and
// leads links to the documentation of Airflow to a version that exists.
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
corner.hidden = true;
document.body.append(corner);

// Every edge of a page has controls of the UI, so the badge is in the free part of its menu, between the upper entries and
// the lower ones. Where a small window leaves no room there, it is left out.
const ROOM = 8;
function place() {
  const menu = document.querySelector('[data-testid="nav-sidebar"]');
  const [upper, lower] = menu?.children ?? [];
  corner.hidden = false;
  if (!menu || !upper || !lower) return void (corner.hidden = true);
  const { left, width } = menu.getBoundingClientRect();
  const end = lower.getBoundingClientRect().top;
  Object.assign(corner.style, { left: `${left}px`, width: `${width}px` });
  corner.style.bottom = `${document.documentElement.clientHeight - end + ROOM}px`;
  corner.hidden = end - upper.getBoundingClientRect().bottom < corner.offsetHeight + 2 * ROOM;
}
const resized = new ResizeObserver(place);
/** @type {Element | null} */
let watched = null;
/** The UI draws its menu after this runs, and again on pages of their own, such as that of an error. */
function watchMenu() {
  const menu = document.querySelector('[data-testid="nav-sidebar"]');
  if (menu === watched) return;
  watched = menu;
  resized.disconnect();
  for (const part of menu ? [menu, ...menu.children] : []) resized.observe(part);
  place();
}
new MutationObserver(watchMenu).observe(document.body, { childList: true, subtree: true });
watchMenu();

// The UI takes the version of this control plane for one of Airflow.
const documentation = 'https://airflow.apache.org/docs/apache-airflow/';
/** @param {Event} event */
function mendLink({ target }) {
  const link = target instanceof Element ? target.closest('a') : null;
  const wrong = `${documentation}${settings.version}/`;
  if (link?.href.startsWith(wrong)) link.href = `${documentation}${settings.airflow}/${link.href.slice(wrong.length)}`;
}
for (const event of ['pointerover', 'focusin', 'click', 'auxclick']) document.addEventListener(event, mendLink, true);

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
  place();
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
