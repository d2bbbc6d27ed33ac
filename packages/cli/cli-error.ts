/**
 * How a command ends. Scripts rely on these numbers: they are part of the interface and documented in docs/cli.md.
 */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** Wrong usage or wrong configuration: repeating the same command cannot help. */
  usage: 2,
  /** Not logged in, or not allowed to. */
  denied: 3,
  notFound: 4,
  unreachable: 5,
  /** Ended by a second Ctrl-C, as shells number it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure whose message is all a person needs: printed without a stack. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** What to do next, on a line of its own. */
  readonly hint: string | undefined;

  constructor(message: string, options: { exitCode?: ExitCode; hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? EXIT.failed;
    this.hint = options.hint;
  }
}

export const usageError = (message: string, hint?: string): CliError =>
  new CliError(message, { exitCode: EXIT.usage, ...(hint !== undefined && { hint }) });

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `ENOENT`, `EADDRINUSE` … of a system error, wherever in the chain of causes it is. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return code;
  }
  return undefined;
}
