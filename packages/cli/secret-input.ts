/**
 * Reads passwords from standard input, from the environment, or from a prompt. A password on the command line causes a
 * warning.
 */
import { usageError } from './cli-error.ts';
import { warn } from './context.ts';
import type { CliContext } from './context.ts';
import { ask, canAsk, readStdin } from './prompt.ts';
import type { SvcCommand } from './svc-command.ts';

export type PasswordOptions = { password?: string; passwordStdin?: true };

export const withPasswordOptions = (command: SvcCommand, whose: string): SvcCommand =>
  command
    .option('--password <value>', `${whose}; "-" reads it from standard input. Others can see a value given here`)
    .option('--password-stdin', `read ${whose} from standard input`);

/** Returns undefined if neither option is given. */
export async function givenPassword(context: CliContext, options: PasswordOptions): Promise<string | undefined> {
  const { password, passwordStdin } = options;
  if (password !== undefined && passwordStdin) throw usageError('give --password or --password-stdin, not both');
  if (passwordStdin || password === '-') return readStdin(context);
  if (password !== undefined) warn(context, '--password shows in process lists; use --password-stdin instead');
  return password;
}

export async function requirePassword(
  context: CliContext,
  options: PasswordOptions & { question: string; fromEnvironment?: boolean; twice?: boolean },
): Promise<string> {
  const given = await givenPassword(context, options);
  if (given !== undefined) return notEmpty(given);
  const { env } = context;
  if (options.fromEnvironment && env['SVC_PASSWORD']) return env['SVC_PASSWORD'];
  if (!canAsk(context)) {
    const variable = options.fromEnvironment ? ', or set SVC_PASSWORD' : '';
    throw usageError('no password given and nobody to ask', `use --password-stdin${variable}`);
  }
  const answer = notEmpty(await ask(context, options.question, { hidden: true }));
  if (options.twice && (await ask(context, 'Once more: ', { hidden: true })) !== answer) {
    throw usageError('the two passwords are not the same');
  }
  return answer;
}

function notEmpty(password: string): string {
  if (password === '') throw usageError('the password is empty');
  return password;
}
