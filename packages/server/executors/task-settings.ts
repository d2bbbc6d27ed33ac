/**
 * What the operator sets for tasks, as variables of their environment; the same from every executor. All of them always, the
 * empty ones too: so no image, config map or author can put something in a place that was left open.
 */
import { secretsBackendKwargs } from '../config/resolved.ts';
import type { Config } from '../config/load.ts';

export type TaskSettings = {
  SVC_HTTP_USER_AGENT: string;
  /** Class path; empty without a backend. */
  SVC_SECRETS_BACKEND: string;
  /** May hold credentials. */
  SVC_SECRETS_BACKEND_KWARGS: string;
};

export const taskSettings = (config: Config): TaskSettings => ({
  SVC_HTTP_USER_AGENT: config.executor.httpUserAgent,
  SVC_SECRETS_BACKEND: config.secrets.backend,
  SVC_SECRETS_BACKEND_KWARGS: config.secrets.backend === '' ? '' : secretsBackendKwargs(config),
});
