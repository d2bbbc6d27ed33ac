import { credentialsIn } from '@svc/spec/sensitive-names.ts';
import type { ConfigValue, KeyDefinition } from './key-definition.ts';
import { configKeys, configPathOf, definitionOf } from './keys.ts';
import type { Config } from './keys.ts';

export const MASK = '***';

/** True if a value of this key is hidden completely. */
export function isSecret(definition: KeyDefinition): boolean {
  return definition.type === 'secret' || definition.type === 'json';
}

/**
 * Returns the value as every reader may see it: secrets as `***` (an empty one stays empty), passwords inside URLs
 * hidden.
 */
export function maskValue(definition: KeyDefinition, value: ConfigValue): ConfigValue {
  return typeof value === 'string' ? maskText(definition, value) : value;
}

export function maskText(definition: KeyDefinition, text: string): string {
  if (text === '') {
    return '';
  }
  // A key may have been pasted where a path belongs.
  if (isSecret(definition) || text.includes('-----BEGIN')) {
    return MASK;
  }
  return definition.type === 'string' && definition.carriesPassword === true ? maskUrlPassword(text) : text;
}

/**
 * Works on the text instead of a parsed URL. A password with an unescaped `/`, `#` or `@` makes parsers split the URL
 * at the wrong place, and the rest of the password would be printed. Everything up to the last `@` is hidden, which may
 * hide too much.
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

/**
 * Returns all configured secrets, which must not appear in any log line. They come from the table, so no new key can be
 * forgotten.
 */
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

/**
 * Returns the password as it is sent. If it is not valid percent-encoding, it is returned as written, and the boot
 * checks refuse it.
 */
function passwordOf(url: string): string[] {
  const password = URL.parse(url)?.password ?? '';
  if (password === '') return [];
  try {
    return [decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
