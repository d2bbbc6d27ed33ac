/** Pages for one visitor: why a sign-in was refused, and whether a command line may act for the visitor. */
import { readFileSync } from 'node:fs';
import { escapeHtml } from './html.ts';

const read = (name: string): string => readFileSync(new URL(`./pages/${name}`, import.meta.url), 'utf8');

export type SignInPages = {
  problem(input: { title: string; detail: string; requestId: string }): string;
  approval(input: { email: string; tenant: string; checkWord: string; ticket: string }): string;
};

export function renderSignInPages(settings: { basePath: string; instanceName: string }): SignInPages {
  const common = { base: `${settings.basePath}/`, instance: settings.instanceName };
  const templates = { problem: read('problem.html'), approve: read('approve.html') };
  return {
    problem: ({ title, detail, requestId }) =>
      filled(templates.problem, { ...common, title, detail: sentence(detail), request: requestId }),
    approval: ({ email, tenant, checkWord, ticket }) =>
      filled(templates.approve, { ...common, email, tenant, word: checkWord, ticket }),
  };
}

/** Fills all places in one pass, so that a value can never contain a place for another one. */
const filled = (template: string, values: Record<string, string>): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_place, name: string) => escapeHtml(values[name] ?? ''));

/**
 * Turns the detail of a problem into a sentence. Details have no capital letter and no full stop, because programs read
 * them too.
 */
const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
