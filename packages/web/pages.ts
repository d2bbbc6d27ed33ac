/** Our own pages and what they load, read once: small, unbundled, and served from memory. */
import { readFileSync } from 'node:fs';
import { escapeHtml, pageOf } from './html.ts';
import type { Page } from './html.ts';

const ASSETS = {
  'style.css': 'text/css; charset=utf-8',
  'by-id.js': 'text/javascript; charset=utf-8',
  'login.js': 'text/javascript; charset=utf-8',
  'home.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

const read = (name: string): string => readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8');

/** The mark of the product, for pages that are not ours. */
export const ICON = read('icon.svg');

export type PageSettings = { basePath: string; instanceName: string; edition: 'lite' | 'pro' | undefined };

export function renderPages(settings: PageSettings): { login: Page; home: Page; assets: ReadonlyMap<string, Page> } {
  const badge = settings.edition
    ? `<span id="edition" class="badge ${settings.edition}">${settings.edition.toUpperCase()}</span>`
    : '';
  const render = (name: string) =>
    pageOf(
      read(name)
        .replaceAll('{{base}}', `${escapeHtml(settings.basePath)}/`)
        .replaceAll('{{instance}}', escapeHtml(settings.instanceName))
        .replace('<span id="edition" class="badge" hidden></span>', badge),
      'text/html; charset=utf-8',
    );
  return {
    login: render('login.html'),
    home: render('home.html'),
    assets: new Map(Object.entries(ASSETS).map(([name, contentType]) => [name, pageOf(read(name), contentType)])),
  };
}
