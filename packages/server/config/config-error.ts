/** One thing that is wrong with the configuration, in a form a program can read as well as a person. */
export interface ConfigProblem {
  /** Dotted key; for an unknown name the name as it was written; empty when the file as a whole is at fault. */
  readonly key: string;
  /** As it was given; secrets masked; undefined where there is no value to show. */
  readonly value?: string;
  /** What to write instead. */
  readonly allowed: string;
  /** `server.yaml:3:5`, `SVC_SERVER_ROLE` or `--server.role`. */
  readonly origin: string;
  readonly message: string;
}

/** Thrown once, with every problem of every source: nobody should have to fix a file one restart at a time. */
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

/** Quoted, on one line and of bounded length, so that a value cannot forge further lines of output. */
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
