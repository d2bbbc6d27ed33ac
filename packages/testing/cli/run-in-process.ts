/** A command run in this process, with streams that are kept: for everything but signals and exit. */
import { PassThrough, Readable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { runCli } from '@svc/cli/program.ts';

export type Outcome = { code: number; stdout: string; stderr: string };

type Options = { env?: Record<string, string>; input?: string };

export const runSvc = (argv: readonly string[], options: Options = {}): Promise<Outcome> =>
  startSvc(argv, options).ended;

/** What it has said so far can be read while it waits for somebody. */
export function startSvc(
  argv: readonly string[],
  options: Options = {},
): { stderr: () => string; ended: Promise<Outcome> } {
  const stdout = capture();
  const stderr = capture();
  const stdin = Object.assign(Readable.from(options.input === undefined ? [] : [options.input]), { isTTY: false });
  const running = runCli({
    argv,
    env: options.env ?? {},
    stdin: stdin as unknown as ReadStream,
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  const ended = running.then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() }));
  return { stderr: stderr.text, ended };
}

function capture(): { stream: WriteStream; text: () => string } {
  const chunks: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: false });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString('utf8')));
  return {
    stream: stream as unknown as WriteStream,
    text: () => {
      const rest = stream.read() as Buffer | null;
      return chunks.join('') + (rest?.toString('utf8') ?? '');
    },
  };
}
