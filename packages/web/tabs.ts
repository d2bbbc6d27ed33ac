/**
 * Our pages inside the Airflow UI. The UI shows them in frames with the same origin. They take its colours, and follow when
 * it switches between light and dark.
 */
import { readFileSync } from 'node:fs';
import { escapeHtml, pageOf } from './html.ts';
import type { Page } from './html.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const SVG = 'image/svg+xml';

/** By path, because scripts import those of the editor. */
const ASSETS = {
  'tabs/tabs.css': 'text/css; charset=utf-8',
  'tabs/theme.js': JAVASCRIPT,
  'tabs/frame.js': JAVASCRIPT,
  'tabs/parts.js': JAVASCRIPT,
  'tabs/why.js': JAVASCRIPT,
  'tabs/failure.js': JAVASCRIPT,
  'tabs/clear.js': JAVASCRIPT,
  'tabs/alerts.js': JAVASCRIPT,
  'tabs/fleet.js': JAVASCRIPT,
  'tabs/cost.js': JAVASCRIPT,
  'tabs/icons/why.svg': SVG,
  'tabs/icons/why-dark.svg': SVG,
  'tabs/icons/alerts.svg': SVG,
  'tabs/icons/alerts-dark.svg': SVG,
  'tabs/icons/fleet.svg': SVG,
  'tabs/icons/fleet-dark.svg': SVG,
  'tabs/icons/cost.svg': SVG,
  'tabs/icons/cost-dark.svg': SVG,
  'editor/dom.js': JAVASCRIPT,
} as const;

const read = (name: string): string => readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');

const TITLES = { why: 'Why', alerts: 'Alerts', fleet: 'Fleet', cost: 'Cost' } as const;
export type TabPage = keyof typeof TITLES;
export const TAB_PAGES = Object.keys(TITLES) as TabPage[];

export function renderTab(page: TabPage, { basePath, tabsPath }: { basePath: string; tabsPath: string }): Page {
  const body = read('tabs/page.html')
    .replaceAll('{{base}}', `${escapeHtml(basePath)}/`)
    .replaceAll('{{assets}}', `${tabsPath}/static/tabs`)
    .replaceAll('{{page}}', page)
    .replaceAll('{{title}}', TITLES[page]);
  return pageOf(body, 'text/html; charset=utf-8');
}

export const tabAssets = (): ReadonlyMap<string, Page> =>
  new Map(Object.entries(ASSETS).map(([name, contentType]) => [name, pageOf(read(name), contentType)]));
