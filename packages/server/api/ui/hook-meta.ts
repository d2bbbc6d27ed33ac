/** The forms of connection types, for the page that edits connections. */
import { Type } from 'typebox';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import { findInstalledProviders } from '../../db/dags/providers.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import type { Field, HookForm, StandardField } from '../connections/hook-forms.ts';
import { formsWith } from '../connections/installed-forms.ts';
import type { Services } from '../services.ts';

const STANDARD_FIELDS: readonly StandardField[] = ['description', 'url_schema', 'host', 'port', 'login', 'password'];

const Behaviour = Nullable(
  Type.Object({
    hidden: Type.Boolean(),
    title: Nullable(Type.String()),
    placeholder: Nullable(Type.String()),
  }),
);
const HookMeta = Type.Object(
  {
    connection_type: Nullable(Type.String()),
    hook_class_name: Nullable(Type.String()),
    default_conn_name: Nullable(Type.String()),
    hook_name: Type.String(),
    standard_fields: Nullable(
      Type.Object({
        description: Behaviour,
        url_schema: Behaviour,
        host: Behaviour,
        port: Behaviour,
        login: Behaviour,
        password: Behaviour,
      }),
    ),
    extra_fields: Nullable(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'ConnectionHookMeta' },
);

export function registerUiHookMeta(app: App, { db }: Services): void {
  app.get(
    '/ui/connections/hook_meta',
    {
      config: { grows: 'installation', access: 'read:connection' },
      schema: {
        operationId: 'hook_meta_data',
        tags: ['UI'],
        summary: 'Forms of the connection types: those people use most, and those of the providers that tasks have',
        response: { 200: Type.Array(HookMeta) },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const installed = await findInstalledProviders(databaseOf(request, db), tenantId);
      return formsWith(installed).map(hookMeta);
    },
  );
}

function hookMeta({ connectionType, hookClass, defaultConnection, name, fields, extra = {} }: HookForm) {
  return {
    connection_type: connectionType,
    hook_class_name: hookClass,
    default_conn_name: defaultConnection,
    hook_name: name,
    standard_fields: fields ? behaviours(fields) : null,
    extra_fields: extra,
  };
}

/** Returns every standard field by name, with null if the form does not change it. */
function behaviours(fields: NonNullable<HookForm['fields']>): Record<StandardField, Field | null> {
  const behaviour = (name: StandardField): Field | null => {
    const given = fields[name];
    return given ? { hidden: false, title: null, placeholder: null, ...given } : null;
  };
  return Object.fromEntries(STANDARD_FIELDS.map((name) => [name, behaviour(name)])) as Record<
    StandardField,
    Field | null
  >;
}
