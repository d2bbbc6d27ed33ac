/** Plugins are Python code inside an API server. This one runs none: both lists are empty because they cannot have entries. */
import { Type } from 'typebox';
import { Collection, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';

const TAGS = ['Plugins'];
const Names = Type.Array(Type.String());
const Views = Type.Array(Type.Object({}, { additionalProperties: true }));

const Plugin = Type.Object(
  {
    name: Type.String(),
    macros: Names,
    flask_blueprints: Names,
    fastapi_apps: Views,
    fastapi_root_middlewares: Views,
    external_views: Views,
    react_apps: Views,
    appbuilder_views: Views,
    appbuilder_menu_items: Views,
    global_operator_extra_links: Names,
    operator_extra_links: Names,
    source: Type.String(),
    listeners: Names,
    timetables: Names,
  },
  { title: 'Plugin' },
);
const PluginImportError = Type.Object({ source: Type.String(), error: Type.String() }, { title: 'PluginImportError' });

/** For every user: the web UI asks on each of its pages. */
export function registerPlugins(app: App): void {
  app.get(
    '/api/v2/plugins',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'get_plugins',
        tags: TAGS,
        summary: 'List plugins: there are none',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('PluginCollection', 'plugins', Plugin) },
      },
    },
    async () => ({ plugins: [], total_entries: 0 }),
  );

  app.get(
    '/api/v2/plugins/importErrors',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'import_errors',
        tags: TAGS,
        summary: 'List plugins that do not import: there are none',
        response: { 200: Collection('PluginImportErrorCollection', 'import_errors', PluginImportError) },
      },
    },
    async () => ({ import_errors: [], total_entries: 0 }),
  );
}
