/** One connection type as a provider's metadata declares it: only what the form of connections shows, and only texts that fit. */
import type { ConnectionTypeOfProvider } from '../../db/schema.ts';
import { isObject } from './call-context.ts';

const MAX_TEXT = 1_000;
const MAX_FIELDS = 200;
/** What a type may be called; a URI of it must be possible. */
const TYPE = /^[\w.+-]{1,200}$/;

/** Undefined for what is none. */
export function readConnectionType(value: unknown): ConnectionTypeOfProvider | undefined {
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
  typeof value === 'string' && value.length <= MAX_TEXT && !value.includes('\0') && value.isWellFormed();

function textsOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const texts = Object.entries(value).filter((entry): entry is [string, string] => fits(entry[0]) && fits(entry[1]));
  return Object.fromEntries(texts.slice(0, MAX_FIELDS));
}

function extraOf(value: unknown): ConnectionTypeOfProvider['extra'] {
  if (!isObject(value)) return {};
  const fields = Object.entries(value).flatMap(([name, field]) => {
    if (!fits(name) || !isObject(field)) return [];
    const { label, description, schema } = field;
    const about = fits(description) ? { description } : {};
    return [[name, { label: fits(label) ? label : name, ...about, schema: isObject(schema) ? schema : {} }] as const];
  });
  return Object.fromEntries(fields.slice(0, MAX_FIELDS));
}
