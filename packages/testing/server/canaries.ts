/** Secrets that are planted to be looked for: in the clear, and in every form in which programs like to pass text on. */
import { randomBytes } from 'node:crypto';

export type Canary = { place: string; value: string };

/** Recognisable, unguessable, and with characters that change when they are quoted or encoded. */
export const plant = (place: string): Canary => ({ place, value: `canary/${randomBytes(12).toString('hex')}+"ü` });

/** For places that allow plain characters only, such as headers. */
export const plantPlain = (place: string): Canary => ({ place, value: `canary-${randomBytes(12).toString('hex')}` });

/** Names of the places whose canary is in the text, each with the form it was found in. */
export function findCanaries(text: string, canaries: readonly Canary[]): string[] {
  return canaries.flatMap(({ place, value }) =>
    Object.entries(formsOf(value))
      .filter(([, form]) => text.includes(form))
      .map(([name]) => `${place} (${name})`),
  );
}

function formsOf(value: string): Record<string, string> {
  const bytes = Buffer.from(value);
  // Base64 depends on where in a group of three bytes the text begins; what is at the edges mixes with neighbours.
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.slice(shift === 0 ? 0 : 4, encoded.length - 4);
  });
  return {
    'as it is': value,
    'its unmistakable part': /[0-9a-f]{24}/.exec(value)?.[0] ?? value,
    'in a JSON string': JSON.stringify(value).slice(1, -1),
    'percent-encoded': encodeURIComponent(value),
    'as form data': new URLSearchParams({ x: value }).toString().slice(2),
    'base64, first of three': base64[0] ?? '',
    'base64, second of three': base64[1] ?? '',
    'base64, third of three': base64[2] ?? '',
    base64url: bytes.toString('base64url'),
    hex: bytes.toString('hex'),
    backwards: [...value].toReversed().join(''),
  };
}
