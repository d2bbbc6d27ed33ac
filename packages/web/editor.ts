/**
 * The page of the editor: our own scripts around Monaco, which comes unchanged from its npm package. This server serves
 * everything, workers included, so the usual content security policy is sufficient.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { filesIn } from './bundle.ts';
import type { BundleFile } from './bundle.ts';
import { escapeHtml, pageOf } from './html.ts';
import type { Page } from './html.ts';

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const ASSETS = {
  'editor.css': 'text/css; charset=utf-8',
  'main.js': JAVASCRIPT,
  'api.js': JAVASCRIPT,
  'buffers.js': JAVASCRIPT,
  'dialogs.js': JAVASCRIPT,
  'dom.js': JAVASCRIPT,
  'files.js': JAVASCRIPT,
  'monaco.js': JAVASCRIPT,
  'problems.js': JAVASCRIPT,
  'runs.js': JAVASCRIPT,
  'tabs.js': JAVASCRIPT,
  'templates.js': JAVASCRIPT,
  'test-lines.js': JAVASCRIPT,
  'test-panel.js': JAVASCRIPT,
  'test-view.js': JAVASCRIPT,
  'tests.js': JAVASCRIPT,
  'tree.js': JAVASCRIPT,
  'view.js': JAVASCRIPT,
  'workspace.js': JAVASCRIPT,
} as const;

const read = (name: string): string => readFileSync(new URL(`./editor/${name}`, import.meta.url), 'utf8');

/**
 * Returns the folder with `loader.js`: at or below the configured one, or in the npm package. Undefined if there is
 * none.
 */
export function monacoFolder(configured: string): string | undefined {
  const roots = configured === '' ? [installedMonaco()] : [configured];
  return roots
    .flatMap((root) => (root === undefined ? [] : [root, join(root, 'vs'), join(root, 'min', 'vs')]))
    .find((folder) => existsSync(join(folder, 'loader.js')) && existsSync(join(folder, 'editor', 'editor.main.js')));
}

/** The package does not export its package.json. Its entry file is in the folder, so the folder is found through it. */
function installedMonaco(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('monaco-editor'));
  } catch {
    return undefined;
  }
}

/** True for a file with a hash in its name, whose content never changes. */
const isHashed = (name: string): boolean => /-[\w-]{8}\.js$/.test(name);

export const monacoFiles = (folder: string): ReadonlyMap<string, BundleFile> => filesIn(folder, isHashed);

export type EditorSettings = {
  basePath: string;
  instanceName: string;
  edition: 'lite' | 'pro' | undefined;
  /** Why the editor cannot be used: no workspace, or no Monaco. */
  missing: 'workspace' | 'monaco' | undefined;
  monaco: ReadonlyMap<string, BundleFile>;
};

export function renderEditor(settings: EditorSettings): Page {
  const { edition, missing, monaco } = settings;
  const workers = Object.fromEntries(
    [...monaco.keys()].flatMap((name) => {
      const label = /^assets\/(\w+)\.worker-.*\.js$/.exec(name)?.[1];
      return label === undefined ? [] : [[label, name]];
    }),
  );
  const badge = edition ? `<span class="badge ${edition}">${edition.toUpperCase()}</span>` : '';
  const body = read(missing === undefined ? 'index.html' : `no-${missing}.html`)
    .replaceAll('{{base}}', `${escapeHtml(settings.basePath)}/`)
    .replaceAll('{{instance}}', escapeHtml(settings.instanceName))
    .replaceAll('{{badge}}', badge)
    .replaceAll('{{workers}}', escapeHtml(JSON.stringify(workers)));
  return pageOf(body, 'text/html; charset=utf-8');
}

export const editorAssets = (): ReadonlyMap<string, Page> =>
  new Map(Object.entries(ASSETS).map(([name, contentType]) => [name, pageOf(read(name), contentType)]));
