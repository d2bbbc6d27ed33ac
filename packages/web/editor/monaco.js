// Brings Monaco onto the page: its loader, our colours, and workers from our own address.
import { byId } from './dom.js';
/** @import { Monaco } from '../browser.d.ts' */

const settings = byId('editor-settings', HTMLScriptElement).dataset;
const home = new URL('ide/monaco/', document.baseURI);

/** @type {Readonly<Record<string, string>>} */
const LANGUAGES = {
  py: 'python',
  pyi: 'python',
  yaml: 'yaml',
  yml: 'yaml',
  json: 'json',
  md: 'markdown',
  sql: 'sql',
  sh: 'shell',
  toml: 'ini',
  ini: 'ini',
  cfg: 'ini',
  js: 'javascript',
  html: 'html',
  css: 'css',
  xml: 'xml',
};

/** @param {string} path */
export function languageOf(path) {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (name === 'dockerfile') return 'dockerfile';
  return LANGUAGES[name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : ''] ?? 'plaintext';
}

const NOT_LOADED = 'The code editor did not load. Reload the page.';

export async function loadMonaco() {
  await new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL('loader.js', home).href;
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error(NOT_LOADED)));
    document.head.append(script);
  });
  const { require: load } = globalThis;
  if (load === undefined) throw new Error(NOT_LOADED);
  load.config({ paths: { vs: home.href.replace(/\/$/, '') } });
  /** @type {Monaco} */
  const monaco = await new Promise((resolve, reject) => load(['vs/editor/editor.main'], resolve, reject));
  // As it comes, it wraps each worker in a blob; ours are plain files, which the content security policy can name.
  /** @type {Record<string, string>} */
  const workers = JSON.parse(settings.workers ?? '{}');
  /** @type {Readonly<Record<string, string>>} */
  const kinds = { javascript: 'ts', typescript: 'ts', scss: 'css', less: 'css', handlebars: 'html', razor: 'html' };
  globalThis.MonacoEnvironment = {
    getWorker: (_module, label) => {
      const name = workers[kinds[label] ?? label] ?? workers.editor;
      if (name === undefined) throw new Error(`the code editor has no worker for ${label}`);
      return new Worker(new URL(name, home));
    },
  };
  defineThemes(monaco);
  return monaco;
}

const DARK = matchMedia('(prefers-color-scheme: dark)');

/** As the web UI beside us was set; without a choice there, as the system is. */
function isDark() {
  const chosen = localStorage.getItem('theme');
  return chosen === 'dark' || (chosen !== 'light' && DARK.matches);
}

/**
 * Returns what applies it once more.
 * @param {(theme: 'svc-dark' | 'svc-light') => void} apply
 */
export function followTheme(apply) {
  const follow = () => {
    document.documentElement.style.colorScheme = isDark() ? 'dark' : 'light';
    apply(isDark() ? 'svc-dark' : 'svc-light');
  };
  DARK.addEventListener('change', follow);
  addEventListener('storage', (event) => event.key === 'theme' && follow());
  follow();
  return follow;
}

/** @param {Monaco} monaco */
function defineThemes(monaco) {
  monaco.editor.defineTheme('svc-light', {
    base: 'vs',
    inherit: true,
    rules: [],
    colors: {
      'editor.background': '#ffffff',
      'editor.lineHighlightBackground': '#f4f8fc',
      'editor.lineHighlightBorder': '#00000000',
      'editorLineNumber.foreground': '#a0aec0',
      'editorLineNumber.activeForeground': '#2d3748',
      'editorIndentGuide.background1': '#e2e8f0',
    },
  });
  monaco.editor.defineTheme('svc-dark', {
    base: 'vs-dark',
    inherit: true,
    rules: [],
    colors: {
      'editor.background': '#0c1420',
      'editor.lineHighlightBackground': '#141e2e',
      'editor.lineHighlightBorder': '#00000000',
      'editorLineNumber.foreground': '#56657e',
      'editorLineNumber.activeForeground': '#cbd5e0',
      'editorIndentGuide.background1': '#263246',
    },
  });
}
