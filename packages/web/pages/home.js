// The state of the control plane at a glance, refreshed while the page is looked at.

const REFRESH_MS = 5_000;
const COMPONENTS = [
  ['metadatabase', 'Database'],
  ['scheduler', 'Scheduler'],
  ['triggerer', 'Triggerer'],
  ['dag_processor', 'DAG processor'],
];

const base = document.querySelector('base').href;
const summary = document.querySelector('#summary');
const tiles = document.querySelector('#components');
const facts = document.querySelector('#facts');

async function get(path) {
  const response = await fetch(new URL(path, base), { headers: { accept: 'application/json' } });
  if (response.status === 401) {
    const here = location.pathname + location.search;
    location.replace(new URL(`api/v2/auth/login?next=${encodeURIComponent(here)}`, base));
  }
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

/** Text only, never markup: nothing that a server says is run. */
function element(tag, text, className) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (className) node.className = className;
  return node;
}

function tile([key, name], health) {
  const { status, ...beats } = health[key];
  const beat = Object.values(beats).find(Boolean);
  const node = element('article', '', `tile ${status ?? 'absent'}`);
  node.append(element('h3', name), element('p', status ?? 'not in use', 'state'));
  if (beat) node.append(element('p', `last seen ${new Date(beat).toLocaleTimeString()}`, 'quiet'));
  return node;
}

function renderFacts({ version, executor }) {
  const rows = [
    [
      'Version',
      version.git_version === version.version ? version.version : `${version.version} (${version.git_version})`,
    ],
    ['Tasks run as', executor.execution_modes.join(', ')],
    ['Agents call back to', executor.agent_control_plane_addr],
  ];
  facts.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', name), element('dd', value)]));
}

async function refresh() {
  try {
    const [health, version, executor] = await Promise.all([
      get('api/v2/monitor/health'),
      get('api/v2/version'),
      get('api/v2/monitor/executor'),
    ]);
    tiles.replaceChildren(...COMPONENTS.map((component) => tile(component, health)));
    renderFacts({ version, executor });
    const sick = COMPONENTS.filter(([key]) => health[key].status === 'unhealthy').map(([, name]) => name);
    summary.textContent = sick.length === 0 ? 'Everything that runs is healthy.' : `Not healthy: ${sick.join(', ')}.`;
  } catch (error) {
    summary.textContent = `No answer right now (${error.message}). Trying again…`;
  }
}

await refresh();
setInterval(() => document.visibilityState === 'visible' && refresh(), REFRESH_MS);
