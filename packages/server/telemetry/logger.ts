import { nowIso } from '@svc/spec/clock.ts';
import { createRequire } from 'node:module';
import { formatWithOptions } from 'node:util';
import { pino } from 'pino';
import type { Bindings, ChildLoggerOptions, DestinationStream, Logger } from 'pino';
import type * as PinoPretty from 'pino-pretty';
import { isSensitiveFieldName } from '@svc/spec/sensitive-names.ts';
import { maskDeep } from './mask-deep.ts';
import type { SecretRegistry } from './redact.ts';
import { describeReply, describeRequest } from './request-log.ts';

export interface LoggerOptions {
  /** debug, info, warn (or warning), error; anything else means info. */
  readonly level: string;
  /** `text` is for people. Any other value writes one JSON object per line. */
  readonly format: string;
  /** The default is standard output. */
  readonly destination?: DestinationStream & { readonly isTTY?: boolean };
  readonly secrets: Pick<SecretRegistry, 'redact'>;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: ReadonlyMap<string, Level> = new Map([
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
]);

/** The stable code of a message: packages/spec/log-codes. */
const CODE = /^SVC\d{4}$/;

/** Limits the line of an object that is logged by mistake (a socket, a whole request). */
const MAX_DEPTH = 8;
const MAX_ENTRIES = 100;

export function parseLogLevel(level: string): Level {
  return LEVELS.get(level.trim().toLowerCase()) ?? 'info';
}

/**
 * Everything in a line passes the secret registry before pino sees it. The `logMethod` hook handles the arguments of
 * each call, and `child`/`setBindings` handle child bindings and prefixes. pino's own serializers do nothing, because
 * they run after the hook and could add unmasked text. The framework uses them unchanged.
 */
export function createLogger(options: LoggerOptions): Logger {
  const asText = options.format.trim().toLowerCase() === 'text';
  const prepare = createPreparation({ secrets: options.secrets, asText });
  const output = options.destination ?? pino.destination({ dest: 1, sync: true });
  const isTerminal = options.destination === undefined ? process.stdout.isTTY : options.destination.isTTY === true;
  const logger = pino(
    {
      level: parseLogLevel(options.level),
      base: null,
      timestamp: () => `,"time":"${nowIso()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: identity, req: identity, res: identity },
      hooks: {
        logMethod(args, method) {
          const { fields, message } = prepare.call(args);
          method.apply(this, message === undefined ? [fields as never] : [fields as never, message]);
        },
        streamWrite: asText ? identity : escapeRareControls,
      },
    },
    asText ? prettyStream({ output, colorize: isTerminal && !process.env['NO_COLOR'] }) : output,
  );
  return guardBindings({ logger, prepare });
}

function identity<T>(value: T): T {
  return value;
}

interface Preparation {
  call(args: readonly unknown[]): { fields: Record<string, unknown>; message: string | undefined };
  fields(value: object): Record<string, unknown>;
  text(value: string): string;
}

function createPreparation(options: { secrets: LoggerOptions['secrets']; asText: boolean }): Preparation {
  const { secrets, asText } = options;
  // JSON escapes control characters. In text, a value could use them to forge a line or to control the terminal.
  const text = asText ? (value: string) => escapeControls(secrets.redact(value)) : secrets.redact;
  // pino-pretty indents the lines of a stack, so none of them can look like a record.
  const stack = asText ? (value: string) => secrets.redact(value).split('\n').map(escapeControls).join('\n') : text;
  const mask = (value: unknown): unknown =>
    maskDeep({ value, text, stack, isSensitive: isSensitiveFieldName, maxDepth: MAX_DEPTH, maxEntries: MAX_ENTRIES });

  const fields = (value: object): Record<string, unknown> => {
    const named: Record<string, unknown> =
      value instanceof Error ? { err: value } : isRequest(value) ? { req: value } : { ...value };
    if (named['req'] !== undefined) named['req'] = describeRequest(named['req']);
    if (named['res'] !== undefined) named['res'] = describeReply(named['res']);
    return mask(named) as Record<string, unknown>;
  };

  const call = (args: readonly unknown[]): ReturnType<Preparation['call']> => {
    const [first, ...rest] = args;
    const isObject = typeof first === 'object' && first !== null;
    const [template, ...parameters] = isObject || first === undefined || first === null ? rest : args;
    const message = format(template, parameters);
    if (!isObject) return { fields: {}, message };
    const named = fields(first);
    const { code, ...others } = named;
    // People see the code of a message in front of it. JSON has a field for it.
    if (asText && message !== undefined && typeof code === 'string' && CODE.test(code))
      return { fields: others, message: `${code} ${message}` };
    return { fields: named, message };
  };

  const format = (template: unknown, parameters: unknown[]): string | undefined => {
    if (template === undefined) return undefined;
    if (typeof template === 'string' && parameters.length === 0) return text(template);
    // Objects are masked by field name first. The joined text is masked again, because a secret may come in two pieces.
    const layout = { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: MAX_DEPTH };
    return text(
      formatWithOptions(
        layout,
        ...[template, ...parameters].map((value) => (isPlainString(value) ? value : mask(value))),
      ),
    );
  };

  return { call, fields, text };
}

/** True for a request. If it is the only object, its fields including the body would otherwise fill the line. */
function isRequest(value: object): boolean {
  return 'headers' in value && 'method' in value && 'url' in value;
}

function isPlainString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Guards both methods of the parent. Children have the parent as prototype, so this covers all of them. */
function guardBindings(options: { logger: Logger; prepare: Preparation }): Logger {
  const { logger, prepare } = options;
  const { child, setBindings } = logger;
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, childOptions?: ChildLoggerOptions) {
      const prefix = childOptions?.msgPrefix;
      const safeOptions = prefix === undefined ? childOptions : { ...childOptions, msgPrefix: prepare.text(prefix) };
      return Reflect.apply(child, this, [prepare.fields(bindings), safeOptions]) as Logger;
    },
    setBindings(this: Logger, bindings: Bindings) {
      setBindings.call(this, prepare.fields(bindings));
    },
  });
}

/** Runs synchronously in this process. A worker thread would cost memory and lose the last lines of a crash. */
function prettyStream(options: { output: DestinationStream; colorize: boolean }): DestinationStream {
  // Loaded on demand, because a start with JSON logs does not need it.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty;
  const pretty = prettyFactory({
    colorize: options.colorize,
    singleLine: true,
    translateTime: 'UTC:yyyy-mm-dd"T"HH:MM:ss.l"Z"',
  });
  return { write: (line) => options.output.write(pretty(line)) };
}

// Control characters, line and paragraph separators, and the marks that reorder text on screen.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const RARE_CONTROLS = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function escapeControls(value: string): string {
  return value.replace(CONTROLS, (character) => SHORT_ESCAPES[character] ?? unicodeEscape(character));
}

/**
 * Escapes control characters that JSON leaves unchanged, because terminals and line readers act on them. They occur
 * only inside strings.
 */
function escapeRareControls(line: string): string {
  return line.replace(RARE_CONTROLS, unicodeEscape);
}
