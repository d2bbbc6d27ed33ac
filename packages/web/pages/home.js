// The state of the control plane at a glance, refreshed while the page is looked at.
import { byId } from './by-id.js';
/** @import { Executor, Health, Version } from '../browser.d.ts' */

const REFRESH_MS = 5_000;
/** @type {readonly (readonly [keyof Health, string])[]} */
const COMPONENTS = [
  ['metadatabase', 'Database'],
  ['scheduler', 'Scheduler'],
  ['triggerer', 'Triggerer'],
  ['dag_processor', 'DAG processor'],
];

const base = document.baseURI;
const summary = byId('summary', HTMLElement);
const tiles = byId('components', HTMLElement);
const facts = byId('facts', HTMLElement);

/**
 * @template Answer
 * @param {string} path
 * @returns {Promise<Answer>}
 */
async function get(path) {
  const response = await fetch(new URL(path, base), { headers: { accept: 'application/json' } });
  if (response.status === 401) {
    const here = location.pathname + location.search;
    location.replace(new URL(`api/v2/auth/login?next=${encodeURIComponent(here)}`, base));
  }
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

/**
 * Text only, never markup: nothing that a server says is run.
 * @param {keyof HTMLElementTagNameMap} tag
 * @param {string} text
 * @param {string} [className]
 */
function element(tag, text, className) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (className) node.className = className;
  return node;
}

/**
 * @param {(typeof COMPONENTS)[number]} component
 * @param {Health} health
 */
function tile([key, name], health) {
  const { status, ...beats } = health[key];
  const beat = Object.values(beats).find(Boolean);
  const node = element('article', '', `tile ${status ?? 'absent'}`);
  node.append(element('h3', name), element('p', status ?? 'not in use', 'state'));
  if (beat) node.append(element('p', `last seen ${new Date(beat).toLocaleTimeString()}`, 'quiet'));
  return node;
}

/** @param {{ version: Version, executor: Executor }} input */
function renderFacts({ version: { version, git_version: revision }, executor }) {
  /** @type {readonly (readonly [string, string])[]} */
  const rows = [
    ['Version', revision === null || revision === version ? version : `${version} (${revision})`],
    ['Tasks run as', executor.execution_modes.join(', ')],
    ['Agents call back to', executor.agent_control_plane_addr],
  ];
  facts.replaceChildren(...rows.flatMap(([name, value]) => [element('dt', name), element('dd', value)]));
}

async function refresh() {
  try {
    /** @type {[Health, Version, Executor]} */
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
    summary.textContent = `No answer right now (${error instanceof Error ? error.message : error}). Trying again…`;
  }
}

await refresh();
setInterval(() => document.visibilityState === 'visible' && refresh(), REFRESH_MS);
