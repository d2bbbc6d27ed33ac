/** Settings of lite itself. They are the weakest layer: a file, a variable or a flag of the user overrides them. */
import type { ConfigKey } from '@svc/server/config/load.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';

export const LITE_ADMIN = 'admin@localhost';
export const LITE_PORT = 8088;
export const LITE_HOST = '127.0.0.1';

export type LiteDefaults = Partial<Record<ConfigKey, string | string[]>>;

/** Defaults that are known before anything starts. */
export function liteDefaults(input: {
  port: number;
  secrets: GeneratedSecrets;
  logs: string;
  staging: string;
  agentPath: string;
  /** Empty if tasks run as the same user as lite. */
  taskUser: string;
  /** An absolute path. Undefined disables the editor. */
  workspace: string | undefined;
}): LiteDefaults {
  const { port, secrets, logs, staging, agentPath, taskUser, workspace } = input;
  return {
    'server.role': 'all',
    'server.http_addr': `${LITE_HOST}:${port}`,
    'server.cors.allowed_origins': [`http://localhost:${port}`, `http://${LITE_HOST}:${port}`],
    'auth.jwt.secret': secrets.jwtSecret,
    secret_key: secrets.secretKey,
    'auth.bootstrap.email': LITE_ADMIN,
    'auth.bootstrap.password': secrets.adminPassword,
    // On a machine of one person, a strict limit would only lock that person out.
    'auth.login_rate_limit_per_minute': '100',
    // Lite uses plain http on loopback, where a browser would not send a Secure cookie.
    'auth.session_cookie_insecure': 'true',
    // A timer covers every known moment, and the tick finds the rest. A longer interval reduces the processor time of
    // an idle lite.
    'scheduler.loop_interval_ms': '2000',
    'executor.type': 'subprocess',
    'executor.agent_path': agentPath,
    // Lite creates this account itself, so no person has files in its home.
    ...(taskUser !== '' && { 'executor.task_user': taskUser, 'executor.isolation': 'apart' }),
    'executor.staging_dir': staging,
    'logs.dir': logs,
    // The person who owns the machine may name any folder of it. Git and author code run as the user of tasks.
    'bundles.allowed_paths': ['/'],
    'observability.otel.enabled': 'false',
    'observability.log_format': 'text',
    'ui.edition': 'lite',
    'ui.auto_refresh_interval_seconds': '1',
    ...(workspace !== undefined && { 'ui.workspace': workspace }),
  };
}
