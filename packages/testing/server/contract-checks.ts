/** Calls operations and keeps book: how often each was called, and what Airflow's document does not allow in its answers. */
import type { AirflowOpenApi } from '../airflow/openapi.ts';
import type { ContractAnswer, ContractServer } from './contract-server.ts';

export type Values = Readonly<Record<string, string | number>>;
type Options = { query?: string; body?: unknown };

export type ContractChecks = {
  /** Calls the operation and holds its answer against the document. */
  check(operation: string, values?: Values, options?: Options): Promise<ContractAnswer>;
  /** For answers that are checked in another way. */
  note(operation: string, problems: readonly string[]): void;
  times(operation: string): number;
  /** What was wrong with these operations; one that was never called is wrong, too. */
  wrongAmong(operations: readonly string[]): Record<string, string[]>;
};

export const fillPath = (path: string, values: Values): string =>
  path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    if (values[name] === undefined) throw new Error(`${path}: no value for {${name}}`);
    return encodeURIComponent(values[name]);
  });

export function createContractChecks({
  server,
  airflow,
}: {
  server: ContractServer;
  airflow: AirflowOpenApi;
}): ContractChecks {
  const calls = new Map<string, number>();
  const wrong = new Map<string, Set<string>>();

  function note(operation: string, problems: readonly string[]): void {
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    const known = wrong.get(operation) ?? new Set();
    for (const problem of problems) known.add(problem);
    if (known.size > 0) wrong.set(operation, known);
  }

  return {
    note,
    times: (operation) => calls.get(operation) ?? 0,
    async check(operation, values = {}, { query = '', body } = {}) {
      const [method = '', path = ''] = operation.split(' ');
      const answer = await server.call(method, `${fillPath(path, values)}${query}`, body);
      const { status, text } = answer;
      if (status >= 300) note(operation, [`${status} ${text.slice(0, 300)} for ${JSON.stringify(values)} ${query}`]);
      else if (status === 204) note(operation, text === '' ? [] : ['a body with status 204']);
      else {
        const problems = airflow.violations(operation, status, answer.json());
        note(operation, problems ?? [`${status} is no status that the document has a body for`]);
      }
      return answer;
    },
    wrongAmong(operations) {
      const found = operations.flatMap((operation): [string, string[]][] => {
        if (!calls.has(operation)) return [[operation, ['was not called']]];
        const problems = wrong.get(operation);
        return problems ? [[operation, [...problems]]] : [];
      });
      return Object.fromEntries(found);
    },
  };
}
