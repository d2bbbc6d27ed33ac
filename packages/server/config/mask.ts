import { credentialsIn } from '@svc/spec/sensitive-names.ts';
import type { ConfigValue, KeyDefinition } from './key-definition.ts';
import { configKeys, configPathOf, definitionOf } from './keys.ts';
import type { Config } from './keys.ts';

export const MASK = '***';

/** Whether a value of this key is hidden whole. */
export function isSecret(definition: KeyDefinition): boolean {
  return definition.type === 'secret' || definition.type === 'json';
}

/** The value as it may be shown to anybody: secrets as `***` (an empty one stays empty), passwords inside URLs hidden. */
export function maskValue(definition: KeyDefinition, value: ConfigValue): ConfigValue {
  return typeof value === 'string' ? maskText(definition, value) : value;
}

export function maskText(definition: KeyDefinition, text: string): string {
  if (text === '') {
    return '';
  }
  // A key pasted where its path belongs is still a key.
  if (isSecret(definition) || text.includes('-----BEGIN')) {
    return MASK;
  }
  return definition.type === 'string' && definition.carriesPassword === true ? maskUrlPassword(text) : text;
}

/**
 * Works on the text and not on a parsed URL: a password with an unescaped `/`, `#` or `@` makes parsers cut the URL in
 * the wrong place, and the rest of the password would be printed. Up to the last `@` is too much at worst.
 */
function maskUrlPassword(text: string): string {
  const match = /^(?<scheme>[a-z][a-z0-9+.-]*:\/\/)(?<rest>[\s\S]*)$/i.exec(text);
  if (match?.groups === undefined) {
    return MASK;
  }
  const { scheme = '', rest = '' } = match.groups;
  return (
    scheme +
    rest
      .replace(/^([^:@]*):[\s\S]*@/, `$1:${MASK}@`)
      .replaceAll(/([?&][^=&]*(?:pass|secret|token)[^=&]*=)[^&]*/gi, `$1${MASK}`)
  );
}

/** What the operator configured as a secret, to be kept out of every log line. From the table: no new key can be forgotten. */
export function configuredSecrets(config: Config): string[] {
  return configKeys.flatMap((key) => {
    const definition = definitionOf(key);
    let value: unknown = config;
    for (const part of configPathOf(key)) value = (value as Record<string, unknown>)[part];
    if (typeof value !== 'string' || value === '') return [];
    if (definition.type === 'secret') return [value];
    if (definition.type === 'json') return [value, ...credentialsIn(JSON.parse(value))];
    return definition.type === 'string' && definition.carriesPassword === true ? passwordOf(value) : [];
  });
}

/** As it is sent, and as it is written when that is no encoding of anything: boot checks refuse it in words. */
function passwordOf(url: string): string[] {
  const password = URL.parse(url)?.password ?? '';
  if (password === '') return [];
  try {
    return [decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
