/** Lite's log: every line as JSON in a file, and the lines for a person on the terminal. */
import { createLogger } from '@svc/server/telemetry/logger.ts';
import { createSecretRegistry } from '@svc/server/telemetry/redact.ts';
import type { SecretRegistry } from '@svc/server/telemetry/redact.ts';
import type { WriteStream } from 'node:tty';
import { styled } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import type { RotatingFile } from './rotating-file.ts';

type Logger = ReturnType<typeof createLogger>;

export type LiteLog = {
  readonly logger: Logger;
  readonly secrets: SecretRegistry;
  /** From now on, warnings and errors are shown on the terminal. Before that, only the list of stages is shown. */
  showProblems(): void;
  /** From now on, only errors are shown, because during a stop, parts warn that other parts disappear. */
  showErrorsOnly(): void;
};

export function createLiteLog(options: {
  level: string;
  format: string;
  file: RotatingFile;
  terminal: WriteStream;
  /** Shows everything on the terminal from the first line. */
  verbose: boolean;
}): LiteLog {
  const { level, format, file, terminal, verbose } = options;
  const secrets = createSecretRegistry();
  let showing: 'nothing' | 'errors' | 'problems' | 'everything' = verbose ? 'everything' : 'nothing';
  const write = (line: string): void => {
    file.write(line);
    if (showing === 'nothing') return;
    const record = parse(line);
    if (showing !== 'everything' && !isProblem(record)) return;
    if (showing === 'errors' && record.level === 'warn') return;
    terminal.write(format === 'json' ? line : `${readable(terminal, record)}\n`);
  };
  return {
    logger: createLogger({ level, format: 'json', destination: { write }, secrets }),
    secrets,
    showProblems: () => {
      if (!verbose) showing = 'problems';
    },
    showErrorsOnly: () => {
      if (!verbose) showing = 'errors';
    },
  };
}

type LogRecord = { readonly level: string; readonly time: string; readonly msg: string; readonly details: Details };
type Details = Record<string, unknown>;

function parse(line: string): LogRecord {
  const { level, time, msg, ...details } = JSON.parse(line) as Details;
  return { level: String(level), time: String(time), msg: String(msg ?? ''), details };
}

const isProblem = ({ level }: LogRecord): boolean => level === 'warn' || level === 'error' || level === 'fatal';

/** One line. The file has stacks and nested details. */
function readable(terminal: WriteStream, { level, time, msg, details }: LogRecord): string {
  const style = level === 'warn' ? 'yellow' : level === 'error' || level === 'fatal' ? 'red' : 'dim';
  const { err, code, ...rest } = details;
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  const fields = Object.entries(rest)
    .filter(([, value]) => typeof value !== 'object')
    .map(([name, value]) => ` ${name}=${String(value)}`)
    .join('');
  const label = styled(terminal, style, level.toUpperCase().padEnd(5));
  return `${time.slice(11, 19)} ${label} ${printable((typeof code === 'string' ? `${code} ` : '') + msg + cause)}${styled(terminal, 'dim', printable(fields))}`;
}
