/** Our own pages and their assets. They are small and unbundled, read once and served from memory. */
import { readFileSync } from 'node:fs';
import { escapeHtml, pageOf } from './html.ts';
import type { Page } from './html.ts';

const ASSETS = {
  'style.css': 'text/css; charset=utf-8',
  'by-id.js': 'text/javascript; charset=utf-8',
  'login.js': 'text/javascript; charset=utf-8',
  'login-sso.js': 'text/javascript; charset=utf-8',
  'approve.js': 'text/javascript; charset=utf-8',
  'home.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

const read = (name: string): string => readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8');

/** The icon of the product, for pages of other packages. */
export const ICON = read('icon.svg');

export type PageSettings = {
  basePath: string;
  instanceName: string;
  edition: 'lite' | 'pro' | undefined;
  /** The command that creates the first user of an installation. */
  firstUserCommand: string;
  /** Set if the identity provider is used. It says whether any user may still log in with a password. */
  singleSignOn?: { hasEmergencyAccess: boolean } | undefined;
};

/** Renders the login page. With single sign-on, it has one button, and the form for passwords is folded or absent. */
function loginPage({ singleSignOn }: PageSettings): string {
  const withPassword = read('login.html');
  if (!singleSignOn) return withPassword;
  const form = /<form id="login"[\s\S]*<\/form>/.exec(withPassword)?.[0] ?? '';
  const emergency = singleSignOn.hasEmergencyAccess ? read('login-emergency.html').replace('{{form}}', () => form) : '';
  return read('login-sso.html').replace('{{emergency}}', () => emergency);
}

export type Pages = {
  login: Page;
  /** The login page while there are no users. */
  loginOfNobody: Page;
  home: Page;
  assets: ReadonlyMap<string, Page>;
};

export function renderPages(settings: PageSettings): Pages {
  const badge = settings.edition
    ? `<span id="edition" class="badge ${settings.edition}">${settings.edition.toUpperCase()}</span>`
    : '';
  const render = (template: string, notice = '') =>
    pageOf(
      template
        .replaceAll('{{base}}', `${escapeHtml(settings.basePath)}/`)
        .replaceAll('{{instance}}', escapeHtml(settings.instanceName))
        .replace('{{notice}}', notice)
        .replace('<span id="edition" class="badge" hidden></span>', badge),
      'text/html; charset=utf-8',
    );
  return {
    login: render(loginPage(settings)),
    loginOfNobody: render(loginPage(settings), nobodyThere(settings.firstUserCommand)),
    home: render(read('home.html')),
    assets: new Map(Object.entries(ASSETS).map(([name, contentType]) => [name, pageOf(read(name), contentType)])),
  };
}

const nobodyThere = (command: string): string =>
  `<div id="nobody" class="notice" role="status"><p>Nobody can sign in yet: there are no users. On the host of the control plane, with its database settings, run</p>
        <pre>${escapeHtml(command)}</pre></div>`;
