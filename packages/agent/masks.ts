/**
 * Secret values in what programs print, replaced by ***. Python masks what goes through it; this is for the rest: output of
 * programs that a task starts, and texts of the agent itself.
 */
const MASK = '***';
/** Shorter ones are words of ordinary text. */
const SHORTEST = 4;
const SHORTEST_LINE = 8;

export type Masks = { add(values: readonly string[]): void; apply(text: string): string };

export function createMasks(): Masks {
  const known = new Set<string>();
  let pattern: RegExp | undefined;
  return {
    add(values) {
      const before = known.size;
      for (const value of values) {
        for (const form of formsOf(value)) known.add(form);
      }
      if (known.size > before) pattern = undefined;
    },
    apply(text) {
      if (known.size === 0) return text;
      // The longest first: a secret that contains another must not leave its tail behind.
      pattern ??= new RegExp(
        [...known]
          .sort((a, b) => b.length - a.length)
          .map(escaped)
          .join('|'),
        'g',
      );
      return text.replace(pattern, MASK);
    },
  };
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

/** Output comes line by line, so each line of a key counts; and programs print URLs and JSON. */
function formsOf(value: string): string[] {
  const secret = value.trim();
  if (secret.length < SHORTEST || secret === MASK) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const whole =
    lines.length > 1 ? [] : [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)];
  return [
    ...whole,
    ...lines.filter((line) => lines.length > 1 && line.length >= SHORTEST_LINE && !line.startsWith('-----')),
  ];
}
