/**
 * A second opinion on a build file: a small reading of the format that shares nothing with the code that writes it, and
 * that throws at anything a builder could take for more than one plain instruction.
 */
export type Instruction = {
  readonly name: string;
  readonly flags: readonly string[];
  readonly rest: string;
  /** The words, when the instruction is in JSON form. */
  readonly json: readonly string[] | undefined;
};

/** The longest line BuildKit reads. */
const MAX_LINE = 65_534;

export function parseBuildFile(text: string): Instruction[] {
  // Printable ASCII and newlines: no builder can see a line break, an encoding or a byte order mark where we see none.
  refuseIf(!/^[\x20-\x7e\n]*$/.test(text), 'characters beyond printable ASCII', text);
  const instructions: Instruction[] = [];
  let pending = '';
  for (const [index, line] of text.split('\n').entries()) {
    refuseIf(line.length > MAX_LINE, 'a line too long', line);
    const isBlank = line.trim() === '';
    if (pending === '' && (isBlank || line.startsWith('#'))) {
      refuseIf(index === 0 && /^#\s*[A-Za-z]\w*\s*=/.test(line), 'a parser directive', line);
      continue;
    }
    // A builder drops comments and blank lines inside a continued instruction; ours must have none to drop.
    refuseIf(pending !== '' && (isBlank || /^\s*#/.test(line)), 'a line lost inside an instruction', line);
    const continued = /\\[ \t]*$/.exec(line);
    pending += continued ? line.slice(0, continued.index) : line;
    if (continued) continue;
    instructions.push(parseInstruction(pending));
    pending = '';
  }
  refuseIf(pending !== '', 'an instruction without an end', pending);
  return instructions;
}

function parseInstruction(line: string): Instruction {
  const [, name = '', after = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
  refuseIf(name === '', 'no instruction', line);
  refuseIf(['RUN', 'COPY', 'ADD'].includes(name) && line.includes('<<'), 'a here-document', line);
  const [flagText = ''] = /^(?:--[a-z-]+=\S+ +)*/.exec(after) ?? [];
  const flags = flagText.split(' ').filter((flag) => flag !== '');
  const rest = after.slice(flagText.length);
  if (!rest.startsWith('[')) return { name, flags, rest, json: undefined };
  const json = JSON.parse(rest) as unknown[];
  const words = json.filter((word) => typeof word === 'string');
  refuseIf(words.length !== json.length, 'JSON that is no list of words', rest);
  return { name, flags, rest, json: words };
}

function refuseIf(isWrong: boolean, what: string, where: string): void {
  if (isWrong) throw new Error(`the build file has ${what}: ${JSON.stringify(where.slice(0, 500))}`);
}
