import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export type PythonRun = {
  /** Null when it was ended by a signal or could not be started. */
  readonly code: number | null;
  /** Why it could not be started, if so. */
  readonly missing: string | undefined;
  readonly output: string;
  readonly errors: string;
  /** The last thing it said: for Python, the exception. */
  readonly lastLine: string;
};

const KEPT = 64_000;

/** Runs a program to its end, without input. Never rejects. */
export function runPython(input: {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** As another user, who gets `env` and nothing of ours besides. */
  as?: { uid?: number; gid?: number; cwd?: string } | undefined;
  /** Lines of its output as they come. */
  onLine?: ((line: string) => void) | undefined;
}): Promise<PythonRun> {
  return new Promise((resolve) => {
    const child = spawn(input.command, input.args, {
      ...input.as,
      env: input.as?.uid === undefined ? { ...process.env, ...input.env } : input.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { output: '', errors: '' };
    const keep = (name: keyof typeof texts) => (text: string) => {
      texts[name] = (texts[name] + text).slice(-KEPT);
    };
    child.stdout.setEncoding('utf8').on('data', keep('output'));
    if (input.onLine) createInterface({ input: child.stdout }).on('line', input.onLine);
    child.stderr.setEncoding('utf8').on('data', keep('errors'));
    const end = (code: number | null, missing?: string): void =>
      resolve({ ...texts, code, missing, lastLine: lastLineOf(texts.errors) || lastLineOf(texts.output) });
    child.once('error', (error: NodeJS.ErrnoException) =>
      end(null, error.code === 'ENOENT' ? 'there is no such program' : error.message),
    );
    child.once('close', (code) => end(code));
  });
}

const lastLineOf = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
