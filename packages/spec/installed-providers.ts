/**
 * Provider packages of a Python environment, as workers and compilers report them from package metadata. The machine
 * that reports them runs code of authors. Therefore only the fields that the product shows are read, in limited sizes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRawNumber } from './exact-json.ts';
import { isStorableText, storeProblem } from './storable.ts';

/** A provider as it is reported. */
export type ReportedProvider = {
  name: string;
  version: string;
  summary: string;
  documentation_url: string | null;
  /** The `connection-types` of the provider's metadata, unchanged. */
  connection_types?: readonly unknown[];
};

/** A provider as it is stored. */
export type InstalledProvider = {
  name: string;
  version: string;
  summary: string;
  /** The documentation URL from its metadata. Older workers do not report it. */
  documentation_url?: string | null;
  /** Absent if the provider declares none. */
  connection_types?: ConnectionTypeOfProvider[];
};

/** Data for the form of connections, keyed by the names of Airflow's fields (`schema`, `extra`). */
export type ConnectionTypeOfProvider = {
  type: string;
  hook_class: string | null;
  name: string;
  hidden: string[];
  titles: Record<string, string>;
  placeholders: Record<string, string>;
  /** Fields that the connection stores in `extra`. */
  extra: Record<string, { label: string; description?: string; schema: Record<string, unknown> }>;
};

/** Airflow itself has about a hundred providers. */
export const MAX_PROVIDERS = 1_000;
const MAX_TEXT = 1_000;
/** Characters for one provider. The largest known one has about 30,000. */
const MAX_FORMS = 200_000;
const AROUND_A_VALUE = 4;
const TURN_MS = 5;
const MAX_FIELDS = 200;
/** Allowed names of a type. A connection URI must be possible with it. */
const TYPE = /^[\w.+-]{1,200}$/;

/** A report that cannot be stored. The message says why. */
export class ProviderReportError extends Error {}

/** Rejects with a ProviderReportError. The size of each package is limited, and other work runs between packages. */
export async function readProviders(reported: readonly unknown[]): Promise<InstalledProvider[]> {
  if (reported.length > MAX_PROVIDERS)
    throw new ProviderReportError(`providers must be a list of at most ${MAX_PROVIDERS} packages`);
  const read: InstalledProvider[] = [];
  let began = performance.now();
  for (const value of reported) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    read.push(readProvider(value));
  }
  return read;
}

function readProvider(value: unknown): InstalledProvider {
  if (!isObject(value)) throw new ProviderReportError('a provider must be an object');
  return {
    name: shortText(value, 'name'),
    version: shortText(value, 'version'),
    summary: shortText(value, 'summary'),
    documentation_url: linkOf(value['documentation_url'] ?? null),
    ...connectionTypesOf(value['connection_types']),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

function shortText(value: Record<string, unknown>, name: string): string {
  const text = value[name];
  if (typeof text !== 'string' || !isStorableText(text))
    throw new ProviderReportError(`${name} of a provider must be a text`);
  return text.slice(0, MAX_TEXT).toWellFormed();
}

/** Accepts only links to web pages, because people click on them. */
function linkOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_TEXT || !URL.canParse(value)) return null;
  const { protocol, href } = new URL(value);
  return ['http:', 'https:'].includes(protocol) ? href : null;
}

/** Returns what the form of connections shows. It is absent if nothing can be shown, or if the value is too large. */
function connectionTypesOf(value: unknown): Pick<InstalledProvider, 'connection_types'> {
  if (!Array.isArray(value) || isLarger(value, MAX_FORMS)) return {};
  const found = value.flatMap((entry) => readConnectionType(entry) ?? []);
  return found.length > 0 ? { connection_types: found } : {};
}

/** Measures the characters of all texts plus the JSON syntax around each value, and stops at the limit. */
function isLarger(value: unknown, limit: number): boolean {
  const pending = [value];
  let size = 0;
  while (pending.length > 0) {
    const next = pending.pop();
    size += AROUND_A_VALUE + (typeof next === 'string' ? next.length : 0);
    if (size > limit) return true;
    if (typeof next !== 'object' || next === null) continue;
    for (const name in next) {
      size += Array.isArray(next) ? 0 : name.length;
      if (size + pending.length > limit) return true;
      pending.push((next as Record<string, unknown>)[name]);
    }
  }
  return false;
}

/** Returns undefined if the value is not a connection type. */
function readConnectionType(value: unknown): ConnectionTypeOfProvider | undefined {
  if (!isObject(value)) return undefined;
  const { 'connection-type': type, 'hook-class-name': hookClass, 'hook-name': name } = value;
  if (typeof type !== 'string' || !TYPE.test(type)) return undefined;
  const behaviour = isObject(value['ui-field-behaviour']) ? value['ui-field-behaviour'] : {};
  const hidden: unknown[] = Array.isArray(behaviour['hidden-fields']) ? behaviour['hidden-fields'] : [];
  return {
    type,
    hook_class: fits(hookClass) ? hookClass : null,
    name: fits(name) && name !== '' ? name : type,
    hidden: hidden.filter((item) => fits(item)).slice(0, MAX_FIELDS),
    titles: textsOf(behaviour['relabeling']),
    placeholders: textsOf(behaviour['placeholders']),
    extra: extraOf(value['conn-fields']),
  };
}

const fits = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_TEXT && isStorableText(value);

function textsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const texts = Object.entries(value).filter((entry): entry is [string, string] => fits(entry[0]) && fits(entry[1]));
  return Object.fromEntries(texts.slice(0, MAX_FIELDS));
}

const canBeKept = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && storeProblem(value, { name: 'schema' }) === undefined;

function extraOf(value: unknown): ConnectionTypeOfProvider['extra'] {
  if (!isObject(value)) return {};
  const fields = Object.entries(value).flatMap(([name, field]) => {
    if (!fits(name) || !isObject(field)) return [];
    const { label, description, schema } = field;
    const about = fits(description) ? { description } : {};
    return [[name, { label: fits(label) ? label : name, ...about, schema: canBeKept(schema) ? schema : {} }] as const];
  });
  return Object.fromEntries(fields.slice(0, MAX_FIELDS));
}
