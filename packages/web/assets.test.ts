/** A script that imports one which is not served is a page that stays empty. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SHELL_FILES } from './bundle.ts';
import { editorAssets } from './editor.ts';
import { renderPages } from './pages.ts';

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
