/**
 * Masks text that looks like a credential, although no caller has registered it. It covers passwords inside URLs,
 * Authorization and Cookie headers, bearer tokens, tokens of known shapes such as JSON Web Tokens, private keys, and
 * values under sensitive names.
 *
 * Texts come from users and from error messages of other systems, so every rule takes linear time. No regular
 * expression may scan the same text again from each of its positions. Python has the same rules
 * (svc_runtime/run/credential_patterns.py), and vectors.json tests both.
 */
import { isSensitiveFieldName, isSensitiveName } from '../sensitive-names.ts';
import { MASK, TOKEN_SHAPES, isOpenSetting } from './rules.ts';

export function maskCredentials(text: string): string {
  let out = text;
  if (out.includes('://')) out = maskUrlPasswords(out);
  if (out.includes(':')) out = maskFields(out);
  if (/bearer|authorization|cookie/i.test(out)) out = maskHeaders(out);
  if (out.includes('eyJ')) out = maskJsonWebTokens(out);
  if (out.includes('-----BEGIN ')) out = maskPrivateKeys(out);
  for (const [hint, shape] of SHAPES) if (out.includes(hint)) out = out.replace(shape, MASK);
  if (out.includes('=')) out = maskAssignments(out);
  return out;
}

const SHAPES = TOKEN_SHAPES.map(([hint, pattern]) => [hint, new RegExp(pattern, 'g')] as const);

/** A user name of at least this length without a password is a token (`https://<token>@host`). */
const TOKEN_USER_LENGTH = 16;

/**
 * Masks `scheme://user:password@host`. The password may contain `@`, `/` or `:`, so the last `@` of the word counts.
 */
function maskUrlPasswords(text: string): string {
  let out = '';
  let done = 0;
  let wordEnd = -1;
  let lastAt = -1;
  for (let mark = text.indexOf('://'); mark !== -1; mark = text.indexOf('://', mark + 3)) {
    const start = mark + 3;
    if (start < done) continue;
    // Both positions are found once per word, even if the word contains several `://`.
    if (start > wordEnd) {
      wordEnd = endOfWord(text, start);
      // The search stays within the word. A search that continued to the start of the text would be repeated for every
      // word.
      const at = text.slice(start, wordEnd).lastIndexOf('@');
      lastAt = at === -1 ? -1 : start + at;
    }
    if (lastAt < start) continue;
    const userLength = text.slice(start, lastAt).search(/[:/?#]/);
    const userEnd = userLength === -1 ? lastAt : start + userLength;
    if (userEnd === lastAt) {
      if (lastAt - start < TOKEN_USER_LENGTH) continue;
      out += text.slice(done, start) + MASK;
    } else {
      // `http://host:8080/users/a@b` has a port and a path; `http://host/a@b` has no user.
      if (text[userEnd] !== ':' || /^\d{1,5}[/?#]/.test(text.slice(userEnd + 1, userEnd + 7))) continue;
      out += `${text.slice(done, userEnd)}:${MASK}`;
    }
    done = lastAt;
  }
  return done === 0 ? text : out + text.slice(done);
}

function endOfWord(text: string, from: number): number {
  const stop = /[\s"'<>]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

function maskHeaders(text: string): string {
  return text
    .replace(
      /\b(authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|digest|negotiate|token) +)?)[^\s"',;]+/gi,
      `$1${MASK}`,
    )
    .replace(/\b(bearer\s+)[^\s"',;<>]{8,}/gi, `$1${MASK}`)
    .replace(/\b((?:set-)?cookie:\s*)[^\r\n]+/gi, `$1${MASK}`);
}

/**
 * Matches whole runs of token characters, so that the text is read once. A token that is cut off in its second part
 * also counts.
 */
function maskJsonWebTokens(text: string): string {
  return text.replace(/[\w.-]{24,}/g, (run) => {
    const at = run.indexOf('eyJ');
    const dot = at === -1 ? -1 : run.indexOf('.', at);
    return dot - at >= 12 && run.length - dot >= 8 ? run.slice(0, at) + MASK : run;
  });
}

/** Masks everything between the BEGIN and END lines, or up to the end of a truncated text. */
function maskPrivateKeys(text: string): string {
  const head = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
  let out = '';
  let done = 0;
  while (head.exec(text) !== null) {
    const from = head.lastIndex;
    const foot = text.indexOf('-----END', from);
    const end = foot === -1 ? text.length : foot;
    if (text.slice(from, end).trim() !== '') {
      out += text.slice(done, from) + MASK;
      done = end;
    }
    head.lastIndex = end;
  }
  return done === 0 ? text : out + text.slice(done);
}

const MAX_NAME_LENGTH = 64;
/** Matches `a=b` and `a = b`, but not `a==b`, `a!=b` or `a=>b`. */
const BEFORE_EQUALS = /(?:^|[^\w.-])([\w.-]+) {0,2}$/;
const AFTER_EQUALS = / {0,2}(?:(\\{0,3})(["'])|(?=[^\s=>~]))/y;

/** Masks `password=...` in query strings, form bodies, database connection strings and calls. */
function maskAssignments(text: string): string {
  let out = '';
  let done = 0;
  for (let equals = text.indexOf('='); equals !== -1; equals = text.indexOf('=', equals + 1)) {
    if (equals < done) continue;
    const name = BEFORE_EQUALS.exec(text.slice(Math.max(done, equals - MAX_NAME_LENGTH), equals))?.[1] ?? '';
    if (!isSensitiveName(name) || isOpenSetting(name)) continue;
    AFTER_EQUALS.lastIndex = equals + 1;
    const begin = AFTER_EQUALS.exec(text);
    if (begin === null) continue;
    const from = AFTER_EQUALS.lastIndex;
    const [, slashes = '', quote] = begin;
    const end =
      quote === undefined ? endOfPlain(text, from) : endOfQuoted(text, { from, quote, slashes: slashes.length });
    if (end === from || isCount(name, text.slice(from, end))) continue;
    out += text.slice(done, from) + MASK;
    done = end;
  }
  return done === 0 ? text : out + text.slice(done);
}

/** True for counts of tokens of a language model: `max_tokens=4096`. */
const isCount = (name: string, value: string): boolean => /tokens$/i.test(name) && /^\d{1,12}$/.test(value);

function endOfPlain(text: string, from: number): number {
  const stop = /[\s&;,"'<>)\]}]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

/**
 * Returns the end of a quoted text. In JSON inside JSON, backslashes precede the quotes, and both quotes have the same
 * number.
 */
function endOfQuoted(text: string, { from, quote, slashes }: { from: number; quote: string; slashes: number }): number {
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = at;
    while (before > from && text[before - 1] === '\\') before -= 1;
    const count = at - before;
    if (slashes === 0 ? count % 2 === 0 : count <= slashes) return at - Math.min(count, slashes);
  }
  return text.length;
}

/** Masks `"password": "..."` and `'password': '...'`, in JSON or in a printed dict inside a message. */
function maskFields(text: string): string {
  const field = /["']([\w.$-]{1,64})\\{0,3}["'] {0,8}: {0,8}(?:(\\{0,3})(["'])|(?=-?\d))/g;
  let out = '';
  let done = 0;
  for (let found = field.exec(text); found !== null; found = field.exec(text)) {
    const [, name = '', slashes = '', quote] = found;
    const from = field.lastIndex;
    if (!isSensitiveFieldName(name) || isOpenSetting(name)) {
      // The quote may open the next name.
      if (quote !== undefined) field.lastIndex = from - 1;
      continue;
    }
    const end =
      quote === undefined ? endOfPlain(text, from) : endOfQuoted(text, { from, quote, slashes: slashes.length });
    if (end === from || isCount(name, text.slice(from, end))) continue;
    out += text.slice(done, from) + (quote === undefined ? `"${MASK}"` : MASK);
    done = end;
    field.lastIndex = end;
  }
  return done === 0 ? text : out + text.slice(done);
}
