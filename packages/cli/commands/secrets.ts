import { CliError, EXIT } from '../cli-error.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runStages } from '../progress.ts';
import { sessionUrl } from '@svc/server/db/database-path.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';
import type { Config } from '@svc/server/config/load.ts';
import type { ResealResult } from '@svc/server/vault/rotate.ts';

type Options = ConfigOptions & { json?: true };

export function addSecretsCommands(program: SvcCommand, context: CliContext): void {
  const secrets = program.command('secrets').description('Work on the encryption of stored secrets');

  withConfigOptions(secrets.command('rotate'))
    .description('Encrypt everything that is stored with the current secret_key')
    .option('--json', 'print JSON')
    .note(
      'Works on the database itself, while control planes run. To change the key: set the new one as secret_key and the\nold one as secret_key_previous everywhere, run this, then take the old one out.',
    )
    .example(
      'after a change of the key',
      'SVC_SECRET_KEY=$new SVC_SECRET_KEY_PREVIOUS=$old SVC_DATABASE_URL=… svc secrets rotate',
    )
    .action((options: Options) => rotate(context, options));
}

async function rotate(context: CliContext, options: Options): Promise<void> {
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  let result: ResealResult | undefined;
  const run = async (say: (text: string) => void): Promise<string> => {
    result = await resealAll(config, say);
    return `Rotated: ${result.resealed} of ${result.examined} rows are newly encrypted`;
  };
  if (options.json) {
    await run(() => {});
    printJson(context, result);
  } else {
    await runStages(context, { stages: [{ title: 'Rotating', run }] });
  }
  if (result !== undefined) refuseLeftovers(result);
}

async function resealAll(config: Config, say: (text: string) => void): Promise<ResealResult> {
  const { readSecretKeys } = await import('@svc/server/config/secret-key.ts');
  const { createKeyring } = await import('@svc/server/vault/keyring.ts');
  const { reseal } = await import('@svc/server/vault/rotate.ts');
  const { withDatabase } = await import('../database.ts');
  const { keys, problems } = readSecretKeys(config);
  const [problem] = problems;
  if (problem !== undefined) throw new CliError(`${problem.key}: ${problem.error}`, { exitCode: EXIT.usage });
  if (keys.current === undefined) {
    throw new CliError('there is no key to encrypt with: set SVC_SECRET_KEY', { exitCode: EXIT.usage });
  }
  const keyring = createKeyring({ current: keys.current, previous: keys.previous });
  return withDatabase(sessionUrl(config), (db) =>
    reseal({
      db,
      keyring,
      onProgress: ({ examined, resealed }) => say(`${examined} rows, ${resealed} newly encrypted`),
    }),
  );
}

/** Fails while values remain, so that the exit code also says that the old key must stay. */
function refuseLeftovers({ unreadable, contended }: ResealResult): void {
  if (unreadable.length > 0) {
    throw new CliError(
      `${unreadable.length} stored values cannot be decrypted and stay as they are:\n${unreadable.map((reason) => `  - ${reason}`).join('\n')}`,
      { hint: 'list the key they were encrypted with in secret_key_previous and run this again' },
    );
  }
  if (contended > 0) throw new CliError(`${contended} rows changed all the time`, { hint: 'run this again' });
}
