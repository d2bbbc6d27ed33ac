/** Whether a repository says that it needs a package, wherever such things are said. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const PLACES =
  /^(?:(?:[\w.-]*requirements[\w.-]*|constraints[\w.-]*)\.(?:txt|in)|pyproject\.toml|setup\.(?:cfg|py)|Pipfile|Dockerfile|svc\.yaml|environment\.ya?ml)$/;
const COMMENT = /^\s*#.*$/gm;
const AIRFLOW_2 =
  /apache-airflow(?:\[[^\]]*\])?\s*(?:==|~=|<=|>=)\s*[12]\.|apache\/airflow:[12]\.|astro-runtime:(?:[4-9]|1[0-2])\b/i;
const EXTRAS = /apache-airflow\[([^\]]*)\]/gi;

export type Requirements = {
  /** Files that were looked at. */
  files: readonly string[];
  lists: (name: string) => boolean;
  /** They ask for Airflow 2, so what changed in 3 is worth telling. */
  isForAirflow2: boolean;
};

/** Of the directory itself and of those right below it, where projects of a workspace and `requirements/` are. */
export function readRequirements(root: string): Requirements {
  const files: string[] = [];
  const texts: string[] = [];
  const look = (directory: string, isTop: boolean): void => {
    for (const entry of entriesOf(join(root, directory))) {
      const path = join(directory, entry.name);
      if (entry.isDirectory() && isTop && !entry.name.startsWith('.')) look(path, false);
      const isNamed = PLACES.test(entry.name) || (directory === 'requirements' && /\.(?:txt|in)$/.test(entry.name));
      if (!entry.isFile() || !isNamed) continue;
      files.push(path);
      texts.push(readFileSync(join(root, path), 'utf8').replaceAll(COMMENT, ''));
    }
  };
  look('', true);
  const text = texts.join('\n');
  const extras = new Set(
    [...text.matchAll(EXTRAS)].flatMap(([, names = '']) => names.split(',').map((name) => normal(name))),
  );
  return {
    files: files.sort(),
    isForAirflow2: AIRFLOW_2.test(text),
    lists: (name) => {
      const wanted = normal(name);
      const provider = /^apache-airflow-providers-(.+)$/.exec(wanted)?.[1];
      return (provider !== undefined && extras.has(provider)) || mentions(text, wanted);
    },
  };
}

const normal = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[-_.]+/g, '-');

/** `psycopg2` is enough for `psycopg2-binary`, and the other way round: which of the two is the author's choice. */
function mentions(text: string, name: string): boolean {
  const names = name.endsWith('-binary') ? [name, name.replace(/-binary$/, '')] : [name];
  return names.some((each) =>
    new RegExp(String.raw`(?<![\w.-])${each.replaceAll('-', '[-_.]+')}(?![\w-]|\.\w)`, 'i').test(text),
  );
}

const entriesOf = (directory: string) => {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
};
