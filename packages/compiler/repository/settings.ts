/** What the files of a repository say about Airflow's own settings: airflow.cfg, .env, ENV of the Dockerfile. */
import { normalize } from 'node:path';
import { parseEnv } from 'node:util';

import type { RepositoryFiles } from './repository-files.ts';
import { shellCommands } from './shell-words.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** By the name of the variable, as AIRFLOW__CORE__DAGS_FOLDER; of several places the strongest. */
export function repositorySettings(files: RepositoryFiles, dockerfile: Settings): Settings {
  return { ...fromConfig(files.text('airflowConfig', 'airflow.cfg')), ...dockerfile, ...environmentFile(files) };
}

/** Names and values of `.env`; empty when there is none. */
export function environmentFile(files: RepositoryFiles): Record<string, string> {
  const found = parseEnv(files.text('environment', '.env') ?? '');
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [name, value ?? '']));
}

/** Where Amazon MWAA and its local runner have the script that runs before Airflow starts. */
const STARTUP_SCRIPTS = ['startup_script/startup.sh', 'startup.sh'];
const EXPORT = /^export[ \t]+([A-Za-z_]\w*)=(.*)$/gm;

/**
 * The variables that the script exports. A value that the script computes, or that only some processes get (in an `if`), is
 * left out.
 */
export function startupScript(
  files: RepositoryFiles,
): { file: string; variables: Readonly<Record<string, string>> } | undefined {
  for (const file of STARTUP_SCRIPTS) {
    const text = files.text('environment', file);
    if (text === undefined) continue;
    const variables: Record<string, string> = {};
    for (const [, name = '', written = ''] of text.matchAll(EXPORT)) {
      const [command] = shellCommands(written, (other) => variables[other]);
      const value = command?.words[0] ?? '';
      if (!/[$`]/.test(value)) variables[name] = value;
    }
    return { file, variables };
  }
  return undefined;
}

function fromConfig(text = ''): Record<string, string> {
  const found: Record<string, string> = {};
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[([^\]]+)\]/.exec(line)?.[1]?.trim() ?? section;
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (name !== '') found[`AIRFLOW__${section}__${name}`.toUpperCase()] = value.trim();
  }
  return found;
}

/** Where images of Airflow have what a repository holds. */
const HOMES =
  /^(?:\$\{?AIRFLOW_HOME\}?|\{AIRFLOW_HOME\}|\/opt\/airflow|\/usr\/local\/airflow|\/home\/airflow\/airflow|~\/airflow|\/root\/airflow)(?=\/|$)\/?/;

/** A path of a setting, relative to the repository; undefined when it leads elsewhere. */
export function insideRepository(path: string): string | undefined {
  const home = path.replace(HOMES, '');
  if (home === path && path.startsWith('/')) return undefined;
  const inside = normalize(home || '.').replace(/\/+$/, '');
  return inside.startsWith('..') ? undefined : inside || '.';
}
