/** Asks the person at the terminal, and reads secrets from standard input. */
import { isUtf8 } from 'node:buffer';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { CliContext } from './context.ts';

type Streams = Pick<CliContext, 'stdin' | 'stderr'>;

export const canAsk = ({ stdin, stderr }: Streams): boolean => stdin.isTTY && stderr.isTTY;

/** Reads all of standard input without the line break that `echo` adds. */
export async function readStdin({ stdin }: Pick<CliContext, 'stdin'>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of stdin) parts.push(Buffer.from(chunk as Buffer | string));
  return utf8Of(Buffer.concat(parts)).replace(/\r?\n$/, '');
}

/** Refuses invalid UTF-8, which would otherwise be stored as replacement characters. */
export function utf8Of(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw usageError('it is not valid UTF-8');
  return bytes.toString('utf8');
}

/** Asks on stderr, so that stdout contains only the result of the command. */
export function ask(streams: Streams, question: string, options: { hidden?: boolean } = {}): Promise<string> {
  const { stdin, stderr } = streams;
  stderr.write(question);
  // readline echoes input to its output, so a secret gets an output that discards everything.
  const output = options.hidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr;
  const lines = createInterface({ input: stdin, output, terminal: true });
  return new Promise((resolve, reject) => {
    // Closing emits `close` at once, so the promise must be settled before.
    lines.once('SIGINT', () => {
      stderr.write('\n');
      reject(new CliError('interrupted', { exitCode: EXIT.interrupted }));
      lines.close();
    });
    lines.once('line', (line) => {
      if (options.hidden) stderr.write('\n');
      resolve(line);
      lines.close();
    });
    lines.once('close', () => resolve('')); // the user pressed Ctrl-D
  });
}
