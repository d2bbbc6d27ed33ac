/**
 * The operator's settings for tasks, as environment variables; every executor sets the same ones. It always sets all of
 * them, even empty ones, so that no image, config map or author can set an unused one.
 */
import { secretsBackendKwargs } from '../config/resolved.ts';
import type { Config } from '../config/load.ts';

export type TaskSettings = {
  SVC_HTTP_USER_AGENT: string;
  /** Class path; empty without a backend. */
  SVC_SECRETS_BACKEND: string;
  /** May contain credentials. */
  SVC_SECRETS_BACKEND_KWARGS: string;
};

export const taskSettings = (config: Config): TaskSettings => ({
  SVC_HTTP_USER_AGENT: config.executor.httpUserAgent,
  SVC_SECRETS_BACKEND: config.secrets.backend,
  SVC_SECRETS_BACKEND_KWARGS: config.secrets.backend === '' ? '' : secretsBackendKwargs(config),
});
