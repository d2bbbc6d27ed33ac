/**
 * Forms of the connection types that provider packages in task environments declare. They take precedence over our own
 * list.
 */
import type { ConnectionTypeOfProvider, InstalledProvider } from '@svc/spec/installed-providers.ts';
import { HOOK_FORMS } from './hook-forms.ts';
import type { ExtraField, Field, HookForm, StandardField } from './hook-forms.ts';

/** Our names of the fields, with the names in provider packages. */
const FIELDS: Readonly<Record<StandardField, string>> = {
  description: 'description',
  url_schema: 'schema',
  host: 'host',
  port: 'port',
  login: 'login',
  password: 'password',
};

export function formsWith(installed: readonly InstalledProvider[]): HookForm[] {
  const forms = new Map(HOOK_FORMS.map((form) => [form.connectionType, form]));
  for (const type of installed.flatMap((provider) => provider.connection_types ?? []))
    forms.set(type.type, formOf(type, forms.get(type.type)));
  return [...forms.values()].toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

/** `known` is our own form of the type. It fills in what the provider does not declare. */
function formOf(type: ConnectionTypeOfProvider, known: HookForm | undefined): HookForm {
  const fields = fieldsOf(type);
  const extra = Object.fromEntries(Object.entries(type.extra).map(([name, field]) => [name, extraField(field)]));
  return {
    connectionType: type.type,
    name: type.name,
    hookClass: type.hook_class,
    defaultConnection: known?.defaultConnection ?? `${type.type}_default`,
    ...(Object.keys(fields).length > 0 ? { fields } : known?.fields && { fields: known.fields }),
    ...(Object.keys(extra).length > 0 ? { extra } : known?.extra && { extra: known.extra }),
  };
}

function fieldsOf({ hidden, titles, placeholders }: ConnectionTypeOfProvider): NonNullable<HookForm['fields']> {
  const found: Partial<Record<StandardField, Partial<Field>>> = {};
  for (const [field, name] of Object.entries(FIELDS) as [StandardField, string][]) {
    const [title, placeholder] = [titles[name] ?? null, placeholders[name] ?? null];
    if (hidden.includes(name)) found[field] = { hidden: true };
    else if (title !== null || placeholder !== null) found[field] = { title, placeholder };
  }
  return found;
}

/** Converts the field to a param: its default becomes the value, and its label becomes the title. */
function extraField({ label, description, schema }: ConnectionTypeOfProvider['extra'][string]): ExtraField {
  const { default: value = null, ...rest } = schema;
  return { value, schema: { title: label, ...rest }, description: description ?? null, source: null };
}
