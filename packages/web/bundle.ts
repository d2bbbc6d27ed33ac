/**
 * The web UI: the built bundle of Airflow's own UI. At set-up it is taken unchanged from the official package and
 * stored in the user's cache, never in this repository. This file knows its versions, their places, and the page that
 * loads them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { extname, join, relative } from 'node:path';
import { escapeHtml } from './html.ts';

/** The packages that contain a web UI, by the values of `ui.airflow_version`. */
export const UI_PACKAGES = {
  '3.2.2': {
    version: '3.2.2',
    requirement: 'apache-airflow-core==3.2.2',
    sha256: '877be429d59193b5e9aab1ae69f44066134bf483c633e9f7c59a9220ebfcc013',
  },
  '3.3.2': {
    version: '3.3.2',
    requirement: 'apache-airflow-core==3.3.2',
    sha256: '99258922bccec15be4700ff89f3c942b8acd93407e263c287ce863e671bb3c50',
  },
} as const;

export type UiVersion = keyof typeof UI_PACKAGES;
export type UiPackage = (typeof UI_PACKAGES)[UiVersion];
export const UI_VERSIONS = Object.keys(UI_PACKAGES) as UiVersion[];

/** The folder of the web UI inside its package. */
export const FOLDER_IN_PACKAGE = 'airflow/ui/dist/';

/** Written last, so a folder with this file is complete. */
export const BUNDLE_STAMP = '.complete';

export function bundleFolder(env: Readonly<Record<string, string | undefined>>, version: UiVersion): string {
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return join(cache, 'svc', `airflow-ui-${version}`);
}

export type BundleFile = {
  path: string;
  contentType: string;
  etag: string;
  /** True if the name changes with the content. */
  isImmutable: boolean;
  encodings: readonly ('br' | 'gzip')[];
};

export type Bundle = { index: string; files: ReadonlyMap<string, BundleFile> };

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

export const ENCODED_EXTENSIONS = { br: '.br', gzip: '.gz' } as const;

/** Returns undefined if there is no bundle, or only a part of one. */
export function openBundle(folder: string): Bundle | undefined {
  const indexPath = join(folder, 'index.html');
  if (!existsSync(indexPath)) return undefined;
  const files = filesIn(folder, (name) => name.startsWith('assets'));
  return { index: readFileSync(indexPath, 'utf8'), files };
}

/** Returns the files of a folder that a browser can use, by name. */
export function filesIn(folder: string, isImmutable: (name: string) => boolean): ReadonlyMap<string, BundleFile> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const present = new Set(names);
  const files = new Map<string, BundleFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    const path = join(folder, name);
    if (type === undefined || !statSync(path).isFile()) continue;
    const { size, mtimeMs } = statSync(path);
    files.set(name.replaceAll('\\', '/'), {
      path,
      contentType: type,
      etag: `"${createHash('sha256')
        .update(`${relative(folder, path)}\0${size}\0${mtimeMs}`)
        .digest('base64url')
        .slice(0, 16)}"`,
      isImmutable: isImmutable(name),
      encodings: (['br', 'gzip'] as const).filter((coding) => present.has(`${name}${ENCODED_EXTENSIONS[coding]}`)),
    });
  }
  return files;
}

export type ShellSettings = {
  /** Ends with a slash. */
  base: string;
  instanceName: string;
  edition: 'lite' | 'pro' | undefined;
  /** Path of the editor, or undefined if there is none. */
  editor: string | undefined;
  airflowVersion: UiVersion;
  /** The version of this control plane. */
  version: string;
};

/** Renders the page of the bundle with its one variable, and adds our own script and style. */
export function renderShell(bundle: Bundle, settings: ShellSettings): string {
  const data = [
    `data-instance="${escapeHtml(settings.instanceName)}"`,
    `data-edition="${settings.edition ?? ''}"`,
    `data-version="${escapeHtml(settings.version)}"`,
    `data-airflow="${settings.airflowVersion}"`,
    `data-editor="${escapeHtml(settings.editor ?? '')}"`,
  ].join(' ');
  const additions =
    `<link rel="stylesheet" href="./svc-static/shell.css" />` +
    `<script type="module" src="./svc-static/shell.js" id="svc-shell" ${data}></script>`;
  return bundle.index
    .replaceAll('{{ backend_server_base_url }}', escapeHtml(settings.base))
    .replace('<title>Airflow</title>', `<title>${escapeHtml(settings.instanceName)}</title>`)
    .replace('</head>', `${additions}</head>`);
}

const readShell = (name: string): string => readFileSync(new URL(`./shell/${name}`, import.meta.url), 'utf8');

export const SHELL_FILES: ReadonlyMap<string, { body: string; contentType: string }> = new Map([
  ['shell.css', { body: readShell('shell.css'), contentType: 'text/css; charset=utf-8' }],
  ['shell.js', { body: readShell('shell.js'), contentType: 'text/javascript; charset=utf-8' }],
]);
