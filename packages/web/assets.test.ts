/** A script that imports one which is not served is a page that stays empty. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SHELL_FILES } from './bundle.ts';
import { editorAssets } from './editor.ts';
import { renderPages } from './pages.ts';
import { TAB_PAGES, renderTab, tabAssets } from './tabs.ts';

const pages = renderPages({ basePath: '', instanceName: 'svc', edition: undefined, firstUserCommand: 'svc' });

it.each([
  ['editor', editorAssets()],
  ['pages', pages.assets],
  ['shell', SHELL_FILES],
])('every script of %s is served as one, with all that it imports', (folder, assets) => {
  const scripts = readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(0);
  for (const name of scripts) {
    const source = readFileSync(new URL(`${folder}/${name}`, import.meta.url), 'utf8');
    expect(assets.get(name), name).toMatchObject({ body: source, contentType: 'text/javascript; charset=utf-8' });
    for (const [, imported = ''] of source.matchAll(/^import .* from '(.*)';$/gm)) {
      expect([...assets.keys()], `imported by ${name}`).toContain(imported.replace('./', ''));
    }
  }
});

it('every file of the pages inside the Airflow UI is served under the address by which pages and scripts load it', () => {
  const assets = tabAssets();
  const names = readdirSync(new URL('tabs', import.meta.url), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(js|css|svg)$/.test(name),
  );
  expect([...assets.keys()].filter((name) => name.startsWith('tabs/')).toSorted()).toEqual(
    names.map((name) => `tabs/${name}`).toSorted(),
  );
  for (const [name, { body }] of assets) {
    for (const [, imported = ''] of body.matchAll(/^import .* from '(.*)';$/gm)) {
      expect([...assets.keys()], `imported by ${name}`).toContain(new URL(imported, `x://x/${name}`).pathname.slice(1));
    }
  }
  for (const page of TAB_PAGES) {
    const { body } = renderTab(page, { basePath: '/flows', tabsPath: 'p' });
    expect(body).not.toMatch(/\{\{|<script(?![^>]* src=)/);
    for (const [, address = ''] of body.matchAll(/(?:src|href)="p\/static\/([^"]*)"/g)) {
      expect([...assets.keys()]).toContain(address);
    }
  }
});
