/**
 * Masks credentials in text and in specs. The control plane masks known secrets before a log is stored. This is a
 * second layer for what authors print or write into a file. It matches only shapes of credentials, because a model must
 * still be able to read why a token was refused. Logs use the rules of every program (@svc/spec/masking).
 */
import { isRawNumber } from '../exact-json.ts';
import { maskCredentials } from '../masking/credential-patterns.ts';
import { MASK, TOKEN_SHAPES } from '../masking/rules.ts';
import { SENSITIVE_PARTS, isSensitiveName } from '../sensitive-names.ts';

/** Limited on both sides, because an endless name must not cost quadratic time. */
const NAME = `[\\w.-]{0,60}(?:${SENSITIVE_PARTS})[\\w.-]{0,60}`;

type Rule = readonly [RegExp, string];

/**
 * In code, the right side of `password=` is an expression; in a log, it is the password. For source text, only quoted
 * values match.
 */
const IN_SOURCE: readonly Rule[] = [
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, MASK], // a JSON Web Token
  [/\b([a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@]*):[^\s/@]+@/gi, `$1:${MASK}@`], // scheme://user:password@host
  [/\b(authorization["']?\s{0,5}[:=]\s{0,5}["']?(?:bearer|basic|token)\s{1,5})[^\s"',]+/gi, `$1${MASK}`],
  [/\b(bearer\s{1,5})[\w.~+/=-]{20,}/gi, `$1${MASK}`],
  ...TOKEN_SHAPES.map(([, pattern]): Rule => [new RegExp(pattern, 'g'), MASK]),
  // name = "value", "name": "value"
  [new RegExp(`(${NAME}["']?\\s{0,5}[=:]\\s{0,5})"[^"]+"`, 'gi'), `$1"${MASK}"`],
  [new RegExp(`(${NAME}["']?\\s{0,5}[=:]\\s{0,5})'[^']+'`, 'gi'), `$1'${MASK}'`],
];

/** Lines without any of these cannot match a rule. */
const HINT = new RegExp(`${SENSITIVE_PARTS}|eyJ|://|bearer`, 'i');
const hasHint = (line: string): boolean => HINT.test(line) || TOKEN_SHAPES.some(([hint]) => line.includes(hint));

const redactSource = (line: string): string =>
  hasHint(line) ? IN_SOURCE.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line) : line;

/** Matches `name: "value"`, as in YAML and in messages. The shared rules cover everything else in a log. */
const QUOTED_AFTER_COLON = /\b([\w.-]{1,64})(\s{0,5}:\s{0,5})(?:"[^"]+"|'[^']+')/g;

const redactLog = (line: string): string =>
  maskCredentials(line).replace(QUOTED_AFTER_COLON, (field: string, name: string, colon: string) =>
    isSensitiveName(name) ? `${name}${colon}"${MASK}"` : field,
  );

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const KEY_ENDS = /-----END [A-Z0-9 ]*PRIVATE KEY-----/;

/** Returns a function for one line after the other. Needs sanitised lines, so that nothing can hide inside a name. */
export function createLineRedactor(kind: 'log' | 'source'): (line: string) => string {
  const redact = kind === 'log' ? redactLog : redactSource;
  let isInKey = false;
  return (line) => {
    if (isInKey || KEY_BEGINS.test(line)) {
      isInKey = !KEY_ENDS.test(line);
      return MASK;
    }
    return redact(line);
  };
}

export function redactLines(lines: readonly string[], kind: 'log' | 'source'): string[] {
  const redact = createLineRedactor(kind);
  return lines.map((line) => redact(line));
}

export const redactText = (text: string, kind: 'log' | 'source' = 'log'): string =>
  redactLines(text.split('\n'), kind).join('\n');

/** Masks every value below a sensitive name. Other texts are masked as text. */
export function redactValue(value: unknown, isSecret = false): unknown {
  if (typeof value === 'string') return isSecret ? MASK : redactText(value, 'source');
  if (typeof value === 'number' || isRawNumber(value)) return isSecret ? MASK : value;
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, isSecret));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redactValue(inner, isSecret || isSensitiveName(key))]),
  );
}
