/** Exit codes. Scripts rely on these numbers, so they are part of the interface. docs/cli.md documents them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** Wrong usage or wrong configuration. Repeating the same command cannot help. */
  usage: 2,
  /** Not logged in, or no permission. */
  denied: 3,
  notFound: 4,
  unreachable: 5,
  /** Ended by a second Ctrl-C, with the number that shells use. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure with a message that is sufficient for a person. It is printed without a stack. */
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

/** Returns the code of a system error (`ENOENT`, `EADDRINUSE` …) from anywhere in the chain of causes. */
export function systemCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return code;
  }
  return undefined;
}
