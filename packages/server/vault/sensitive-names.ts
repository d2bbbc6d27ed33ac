/**
 * The one rule that decides, by name alone, whether a value is a secret. The vault masks connection extras and variables
 * with it, the logger masks fields and query values with it; two rules would sooner or later disagree and leak.
 *
 * A name is sensitive when any part of it is one of the words, in any letter case. Compound words are recognised with and
 * without a separator, because the same thing is `api_key` in an extra, `apiKey` in JSON and `x-api-key` in a header.
 */
const SENSITIVE_NAME =
  /secret|password|passwd|passphrase|token|api[^a-z0-9]?key|access[^a-z0-9]?key|private[^a-z0-9]?key|authorization|credential|keyfile/i;

export function isSensitiveName(name: string): boolean {
  return SENSITIVE_NAME.test(name);
}

/** Logs and traces also see HTTP headers, where a session cookie is as good as a password. */
export function isSensitiveFieldName(name: string): boolean {
  return SENSITIVE_NAME.test(name) || /cookie/i.test(name);
}
