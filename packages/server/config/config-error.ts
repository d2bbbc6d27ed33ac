/** One problem of the configuration, readable for programs and people. */
export interface ConfigProblem {
  /** The dotted key. For an unknown name it is the written name. It is empty if the problem concerns the whole file. */
  readonly key: string;
  /** The given value with secrets masked. Undefined if there is no value to show. */
  readonly value?: string;
  /** What to write instead. */
  readonly allowed: string;
  /** The place: `server.yaml:3:5`, `SVC_SERVER_ROLE` or `--server.role`. */
  readonly origin: string;
  readonly message: string;
}

/** Thrown once with all problems of all sources, so that an operator can fix them before the next start. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const title =
      problems.length === 1 ? 'the configuration has a problem' : `the configuration has ${problems.length} problems`;
    super([`${title}:`, ...problems.map((problem) => `  ${problem.message}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const MAX_SHOWN = 120;

/** Quotes a value on one line with a limited length, so that it cannot forge further lines of output. */
export function quote(value: string): string {
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}

export function badValue(problem: { key: string; value: string; allowed: string; origin: string }): ConfigProblem {
  const { key, value, allowed, origin } = problem;
  return { ...problem, message: `${origin}: ${key} is ${quote(value)}; allowed: ${allowed}` };
}

export function unknownName(problem: { key: string; nearest: string; origin: string }): ConfigProblem {
  const { key, nearest, origin } = problem;
  return { key, allowed: nearest, origin, message: `${origin}: unknown key ${quote(key)}; did you mean ${nearest}?` };
}
