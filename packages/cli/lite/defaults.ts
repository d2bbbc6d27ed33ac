/** What lite sets by itself. The weakest layer: a file, a variable or a flag of the user's wins over any of it. */
import type { ConfigKey } from '@svc/server/config/load.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';

export const LITE_ADMIN = 'admin@localhost';
export const LITE_PORT = 8088;
export const LITE_HOST = '127.0.0.1';

export type LiteDefaults = Partial<Record<ConfigKey, string | string[]>>;

/** Those known before anything runs. */
export function liteDefaults(input: {
  port: number;
  secrets: GeneratedSecrets;
  logs: string;
  staging: string;
  agentPath: string;
  /** Empty: tasks run as ourselves. */
  taskUser: string;
  /** Absolute; undefined leaves the editor off. */
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
    // One person on one machine: a limit that stops guessing over a network would only lock that person out.
    'auth.login_rate_limit_per_minute': '100',
    // Plain http on loopback; a browser would keep a Secure cookie to itself.
    'auth.session_cookie_insecure': 'true',
    // A timer stands for every moment that is known; the tick finds the rest. Twice as rare keeps an idle lite below 1 % CPU.
    'scheduler.loop_interval_ms': '2000',
    'executor.type': 'subprocess',
    'executor.agent_path': agentPath,
    // Lite creates this account itself, so no user keeps files in its home.
    ...(taskUser !== '' && { 'executor.task_user': taskUser, 'executor.isolation': 'apart' }),
    'executor.staging_dir': staging,
    'logs.dir': logs,
    'observability.otel.enabled': 'false',
    'observability.log_format': 'text',
    'ui.edition': 'lite',
    'ui.auto_refresh_interval_seconds': '1',
    ...(workspace !== undefined && { 'ui.workspace': workspace }),
  };
}
