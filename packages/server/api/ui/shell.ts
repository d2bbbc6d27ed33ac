/** What the web UI requests on every page: its settings, the current user, and what that user may open. */
import { Type } from 'typebox';
import type { Permission } from '../../auth/permissions.ts';
import { autoRefreshSeconds } from '../../config/resolved.ts';
import { DEFAULT_TENANT } from '../../db/identity/tenants.ts';
import { principalOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { RENEWAL_FAULTS } from '../auth/tokens.ts';

const TAGS = ['UI'];

const ConfigResponse = Type.Object(
  {
    fallback_page_limit: Type.Integer(),
    auto_refresh_interval: Type.Integer(),
    hide_paused_dags_by_default: Type.Boolean(),
    instance_name: Type.String(),
    enable_swagger_ui: Type.Boolean(),
    require_confirmation_dag_change: Type.Boolean(),
    default_wrap: Type.Boolean(),
    test_connection: Type.String(),
    dashboard_alert: Type.Array(Type.Object({ text: Type.String(), category: Type.String() })),
    show_external_log_redirect: Type.Boolean(),
    external_log_name: Type.Union([Type.String(), Type.Null()]),
    theme: Type.Null(),
    multi_team: Type.Boolean(),
    rerun_with_latest_version: Type.Null({ description: 'A request says itself whether runs take the newest version' }),
  },
  { title: 'ConfigResponse' },
);

/** Menu entries with their permissions. Entries that the caller may not use are omitted. */
const MENU: readonly { item: string; permission: Permission | null }[] = [
  { item: 'Dags', permission: 'read:dag' },
  { item: 'Assets', permission: 'read:asset' },
  { item: 'Audit Log', permission: 'read:audit_log' },
  { item: 'Jobs', permission: 'read:dag_run' },
  { item: 'XComs', permission: 'read:xcom' },
  { item: 'Deadlines', permission: 'read:dag_run' },
  { item: 'Required Actions', permission: 'read:task_instance' },
  { item: 'Variables', permission: 'read:variable' },
  { item: 'Pools', permission: 'read:pool' },
  { item: 'Connections', permission: 'read:connection' },
  { item: 'Providers', permission: 'read:config' },
  { item: 'Plugins', permission: 'read:config' },
  { item: 'Config', permission: 'read:config' },
  { item: 'Docs', permission: null },
];

export function registerUiShell(app: App, { config, logs, sessions, testConnection }: Services): void {
  app.get(
    '/ui/config',
    {
      config: { grows: 'installation', access: 'user' },
      schema: {
        operationId: 'get_ui_config',
        tags: TAGS,
        summary: 'Settings of the web UI',
        response: { 200: ConfigResponse },
      },
    },
    async () => ({
      fallback_page_limit: 50,
      auto_refresh_interval: autoRefreshSeconds(config),
      hide_paused_dags_by_default: false,
      instance_name: config.ui.instanceName,
      enable_swagger_ui: true,
      require_confirmation_dag_change: false,
      default_wrap: false,
      test_connection: config.connections.testEnabled && testConnection ? 'Enabled' : 'Disabled',
      dashboard_alert: [],
      show_external_log_redirect: logs.external !== undefined,
      external_log_name: logs.external?.name ?? null,
      theme: null,
      multi_team: false,
      rerun_with_latest_version: null,
    }),
  );

  app.get(
    '/ui/auth/menus',
    {
      config: { grows: 'installation', access: 'user' },
      schema: {
        operationId: 'get_auth_menus',
        tags: TAGS,
        summary: 'Menu entries the caller may use',
        response: {
          200: Type.Object({
            authorized_menu_items: Type.Array(Type.String()),
            extra_menu_items: Type.Array(Type.Object({ text: Type.String(), href: Type.String() })),
          }),
        },
      },
    },
    async (request) => {
      const { permissions } = principalOf(request);
      const allowed = MENU.filter(({ permission }) => permission === null || permissions.has(permission));
      return { authorized_menu_items: allowed.map(({ item }) => item), extra_menu_items: [] };
    },
  );

  app.get(
    '/ui/auth/me',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'get_current_user_info',
        tags: TAGS,
        summary: 'Who the caller is',
        response: {
          200: Type.Object({
            id: Type.String(),
            username: Type.String(),
            tenant: Type.String(),
            roles: Type.Array(Type.String()),
            can_edit_workspace: Type.Boolean({ description: 'whether the editor at /ide is for the caller' }),
          }),
        },
      },
    },
    async (request) => {
      const { userId, email, tenantName, roles, permissions } = principalOf(request);
      const isEditor = tenantName === DEFAULT_TENANT && permissions.has('write:dag');
      return {
        id: userId,
        username: email,
        tenant: tenantName,
        roles: [...roles],
        can_edit_workspace: isEditor && config.ui.workspace !== '',
      };
    },
  );

  app.post(
    '/ui/auth/token',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'generate_token',
        tags: TAGS,
        summary: 'A token for scripts, of the same session: it ends when the user logs out',
        body: Type.Object({ token_type: Type.Union([Type.Literal('api'), Type.Literal('cli')], { default: 'api' }) }),
        response: {
          200: Type.Object({
            access_token: Type.String(),
            token_type: Type.String(),
            expires_in_seconds: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const token = await sessions.renew(principalOf(request));
      if (typeof token === 'string') throw RENEWAL_FAULTS[token]();
      return {
        access_token: token.accessToken,
        token_type: request.body.token_type,
        expires_in_seconds: token.expiresInSeconds,
      };
    },
  );
}
