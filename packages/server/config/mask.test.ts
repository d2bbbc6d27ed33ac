import { expect, test } from 'vitest';
import { loadConfig } from './load.ts';
import { configuredSecrets } from './mask.ts';

test('everything that was configured as a secret is known to the registry of logs, whatever key it stands under', () => {
  const { config } = loadConfig({
    env: {
      SVC_AUTH_JWT_SECRET: 'of-tokens',
      SVC_SECRET_KEY: 'of-the-vault',
      SVC_DATABASE_URL: 'postgres://svc:of%20postgres@db/svc',
      SVC_LOGS_SINK_ACCESS_KEY_ID: 'of-the-sink',
      SVC_SECRETS_BACKEND_KWARGS: '{"url":"https://vault","auth":{"token":"of-the-store"}}',
    },
  });
  const found = configuredSecrets(config);
  for (const secret of ['of-tokens', 'of-the-vault', 'of postgres', 'of-the-sink', 'of-the-store']) {
    expect(found).toContain(secret);
  }
  expect(found).not.toContain('https://vault');
});
