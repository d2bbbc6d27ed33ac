/** One line of a requirements file, as far as we must understand it. */
import { FILE_LIMITS, FileLimitError } from '@svc/spec/files/limits.ts';
import { STOOD_IN_FOR, packageOfExtra } from '@svc/spec/project/airflow-extras.ts';

export type Note = { file: string; line: number | null; message: string };

/** A package to be installed. `text` is what the installer is given, one line of a requirements file. */
export type Requirement = {
  text: string;
  /** In its normal form; undefined for an address that does not say it. */
  name: string | undefined;
  file: string;
  line: number;
};

/**
 * Logical lines: without comments, continued ones in one, each with the number of its first. Throws a FileLimitError for one that
 * is too long: patterns are matched against them.
 */
export function logicalLines(text: string, file: string): { text: string; line: number }[] {
  const lines: { text: string; line: number }[] = [];
  let open: { text: string; line: number } | undefined;
  for (const [index, written] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const part = written.replace(/(^|\s)#.*$/, '');
    const isContinued = part.endsWith('\\');
    const content = isContinued ? part.slice(0, -1) : part;
    open = open ? { ...open, text: `${open.text} ${content.trim()}` } : { text: content, line: index + 1 };
    if (open.text.length > MAX_CHARACTERS) throw tooLong(file, open.line);
    if (isContinued) continue;
    if (open.text.trim() !== '') lines.push({ ...open, text: open.text.trim().replace(/\s+/g, ' ') });
    open = undefined;
  }
  if (open && open.text.trim() !== '') lines.push({ ...open, text: open.text.trim() });
  return lines;
}

const MAX_CHARACTERS = FILE_LIMITS.requirements.lineCharacters;

const tooLong = (file: string, line: number): FileLimitError =>
  new FileLimitError({
    file,
    line,
    message: `has an entry of more than ${MAX_CHARACTERS.toLocaleString('en')} characters, its continued lines included`,
    instead: 'Check whether a line ends with a backslash that should not be there',
  });

export const normalName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

const NAMED = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(.*)$/s;
const ADDRESS = /^(?:(?:git|hg|svn|bzr)\+|https?:\/\/|file:)/;

/** The name that a line says, and the extras and the rest behind it. */
export function partsOf(text: string): { name: string | undefined; extras: string[]; rest: string } {
  if (ADDRESS.test(text)) {
    const egg = /[#&]egg=([A-Za-z0-9._-]+)/.exec(text)?.[1];
    return { name: egg === undefined ? undefined : normalName(egg), extras: [], rest: text };
  }
  const [, name, extras = '', rest = ''] = NAMED.exec(text) ?? [];
  return {
    name: name === undefined ? undefined : normalName(name),
    extras: extras.split(',').flatMap((extra) => extra.trim() || []),
    rest,
  };
}

/** What is left of a requirement when svc stands in for Airflow: the requirement itself, or packages of its extras. */
export function withoutAirflow(requirement: Requirement): Requirement[] {
  const { name, extras, rest } = partsOf(requirement.text);
  if (name === undefined || !STOOD_IN_FOR.has(name)) return [requirement];
  const marker = /;.*$/s.exec(rest)?.[0] ?? '';
  return [...new Set(extras)].flatMap((extra) => {
    const wanted = packageOfExtra(extra);
    return wanted === undefined ? [] : [{ ...requirement, name: wanted, text: `${wanted}${marker}` }];
  });
}

/** The major version of Airflow that a requirement asks for, where it says one. */
export function airflowMajor({ text, name }: Requirement): number | undefined {
  if (name !== 'apache-airflow' && name !== 'apache-airflow-core') return undefined;
  const version = /(?:==|~=|>=)\s*(\d+)/.exec(text)?.[1];
  return version === undefined ? undefined : Number(version);
}
