/**
 * The one rule that decides, by name alone, whether a value is a secret. The vault masks connection extras and variables with
 * it, the logger fields and query values, the tool server what a model may read, tasks their logs and rendered fields (in
 * Python, by a file made from this one: `npm run docs`). Two rules would sooner or later disagree and leak.
 *
 * A name is sensitive when any part of it is one of the words, in any letter case. Compound words are recognised with and
 * without a separator, because the same thing is `api_key` in an extra, `apiKey` in JSON and `x-api-key` in a header.
 */

/** To be matched in any letter case. Only what Python and JavaScript read alike. */
export const SENSITIVE_PARTS = [
  'secret|password|passwd|passphrase|token|authorization|credential|keyfile',
  // Kinds of key: a bare `key` or a `public_key` is none of them.
  '(?:api|access|private|account|signing|encryption|routing|integration)[^a-z0-9]?key',
  // Carry a password or a whole key inside.
  'connection[^a-z0-9]?string|conn[^a-z0-9]?str(?![a-z])|service[^a-z0-9]?account',
].join('|');

const SENSITIVE_NAME = new RegExp(SENSITIVE_PARTS, 'i');

export function isSensitiveName(name: string): boolean {
  return SENSITIVE_NAME.test(name);
}

/** Logs and traces also see HTTP headers, where a session cookie is as good as a password. */
export function isSensitiveFieldName(name: string): boolean {
  return SENSITIVE_NAME.test(name) || /cookie/i.test(name);
}
