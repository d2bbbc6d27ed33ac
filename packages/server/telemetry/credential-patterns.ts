import { isSensitiveFieldName, isSensitiveName } from '@svc/spec/sensitive-names.ts';

/**
 * Masks what looks like a credential although nobody registered it: passwords inside URLs, Authorization and Cookie header
 * text, bearer tokens, JSON Web Tokens and assignments to sensitive names.
 *
 * Texts come from users and from foreign error messages, so every rule is linear: no regular expression here can scan the
 * same stretch of text again from each of its positions.
 */
export const MASK = '***';

export function maskCredentials(text: string): string {
  let out = text;
  if (out.includes('://')) out = maskUrlPasswords(out);
  if (/bearer|authorization|cookie/i.test(out)) out = maskHeaders(out);
  if (out.includes('eyJ')) out = maskJsonWebTokens(out);
  if (out.includes('=')) out = maskAssignments(out);
  if (out.includes('":') || out.includes('" :')) out = maskJsonFields(out);
  return out;
}

/** A user name this long without a password is a token (`https://<token>@host`). */
const TOKEN_USER_LENGTH = 16;

/** `scheme://user:password@host`. The password may itself hold `@`, `/` or `:`, so the last `@` of the word counts. */
function maskUrlPasswords(text: string): string {
  let out = '';
  let done = 0;
  let wordEnd = -1;
  let lastAt = -1;
  for (let mark = text.indexOf('://'); mark !== -1; mark = text.indexOf('://', mark + 3)) {
    const start = mark + 3;
    if (start < done) continue;
    // Both are found once per word, however many `://` the word holds.
    if (start > wordEnd) {
      wordEnd = endOfWord(text, start);
      // Within the word only: a search that ran on to the start of the text would be repeated for every word.
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
      // `http://host:8080/users/a@b` is a port and a path; `http://host/a@b` has no user at all.
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

/** Takes whole runs of token characters, so that text is read once; a token cut off in its second part counts too. */
function maskJsonWebTokens(text: string): string {
  return text.replace(/[\w.-]{24,}/g, (run) => {
    const at = run.indexOf('eyJ');
    const dot = at === -1 ? -1 : run.indexOf('.', at);
    return dot - at >= 12 && run.length - dot >= 8 ? run.slice(0, at) + MASK : run;
  });
}

const MAX_NAME_LENGTH = 64;

/** `password=...` in query strings, form bodies and database connection strings. */
function maskAssignments(text: string): string {
  let out = '';
  let done = 0;
  for (let equals = text.indexOf('='); equals !== -1; equals = text.indexOf('=', equals + 1)) {
    if (equals < done) continue;
    const name = /[\w.-]*$/.exec(text.slice(Math.max(done, equals - MAX_NAME_LENGTH), equals))?.[0] ?? '';
    if (!isSensitiveName(name)) continue;
    const quote = text[equals + 1];
    const quoted = quote === '"' || quote === "'";
    const stop = quoted ? (quote === '"' ? /"|$/g : /'|$/g) : /[\s&;,"'<>)\]}]|$/g;
    stop.lastIndex = equals + (quoted ? 2 : 1);
    const end = stop.exec(text)?.index ?? text.length;
    if (end === equals + 1) continue;
    out += text.slice(done, equals + (quoted ? 2 : 1)) + MASK;
    done = end;
  }
  return done === 0 ? text : out + text.slice(done);
}

/** `"password": "..."` in JSON that someone put into a message. */
function maskJsonFields(text: string): string {
  return text.replace(/"([\w.$-]{1,64})"(\s*:\s*)"(?:[^"\\]|\\.)*/g, (field: string, name: string, colon: string) =>
    isSensitiveFieldName(name) ? `"${name}"${colon}"${MASK}` : field,
  );
}
