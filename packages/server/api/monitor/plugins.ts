/**
 * Plugins with which the DAGs of a tenant were compiled, by bundle: macros, timetables, listeners and links. The
 * compiler and task processes use them. Plugins that extend the web server are never loaded, so those lists are empty,
 * and the compiler warns about them. The last plugin has our own pages.
 */
import { Type } from 'typebox';
import { listBundlePlugins } from '../../db/dags/plugins.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { Collection, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { ownPlugin } from '../tabs/own-tabs.ts';

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

const NOT_LOADED = {
  flask_blueprints: [],
  fastapi_apps: [],
  fastapi_root_middlewares: [],
  external_views: [],
  react_apps: [],
  appbuilder_views: [],
  appbuilder_menu_items: [],
};

/** Open to every user, because the web UI requests it on each page. */
export function registerPlugins(app: App, { db }: Services): void {
  app.get(
    '/api/v2/plugins',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'get_plugins',
        tags: TAGS,
        summary: 'List the plugins of all bundles',
        querystring: Type.Object(PagingQuery),
        response: { 200: Collection('PluginCollection', 'plugins', Plugin) },
      },
    },
    async (request) => {
      const { limit, offset } = request.query;
      const theirs = (await listBundlePlugins(databaseOf(request, db))).flatMap(({ bundle, plugins }) =>
        plugins.loaded.map((plugin) => ({ ...NOT_LOADED, ...plugin, source: `${bundle}: ${plugin.source}` })),
      );
      const all = [...theirs, { ...NOT_LOADED, ...ownPlugin(principalOf(request).permissions) }];
      return { plugins: all.slice(offset, offset + limit), total_entries: all.length };
    },
  );

  app.get(
    '/api/v2/plugins/importErrors',
    {
      config: { grows: 'installation', access: 'user' },
      schema: {
        operationId: 'import_errors',
        tags: TAGS,
        summary: 'List plugins that do not import',
        response: { 200: Collection('PluginImportErrorCollection', 'import_errors', PluginImportError) },
      },
    },
    async (request) => {
      const all = (await listBundlePlugins(databaseOf(request, db))).flatMap(({ bundle, plugins }) =>
        plugins.errors.map(({ source, error }) => ({ source: `${bundle}: ${source}`, error })),
      );
      return { import_errors: all, total_entries: all.length };
    },
  );
}
