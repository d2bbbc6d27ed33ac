/**
 * Reads an Airflow through its HTTP API: version 1 (Airflow 2) or 2 (Airflow 3). The API reveals no passwords and masks
 * other secrets.
 */
import type {
  AirflowSource,
  HistoryFilter,
  SourceConnection,
  SourceDag,
  SourcePool,
  SourceRun,
  SourceTask,
  SourceTry,
  SourceUser,
  SourceVariable,
} from '@svc/server/db/imports/airflow/source-types.ts';
import { SourceError } from '@svc/server/db/imports/airflow/database-source.ts';
import { connectToAirflow } from './rest-client.ts';
import type { Json, RestClient, RestCredentials } from './rest-client.ts';
import { connectionOf, dagOf, poolOf, runOfJson, tryOfJson, userOf, variableOf } from './rest-rows.ts';

export async function openAirflowApi(address: string, credentials: RestCredentials): Promise<AirflowSource> {
  const client = await connectToAirflow(address, credentials);
  /** Instances with more than one try, from the runs that were read last. */
  let retried: SourceTry[] = [];
  const learnt = new Map<string, Map<string, SourceTask>>();

  async function* each<T>(path: string, list: string, made: (row: Json) => T): AsyncGenerator<T> {
    for await (const page of client.pages(path, list)) yield* page.rows.map(made);
  }

  async function* runs(after: string | undefined, filter: HistoryFilter): AsyncGenerator<SourceRun[]> {
    const since =
      filter.since === undefined
        ? ''
        : `&${client.isV2 ? 'run_after' : 'execution_date'}_gte=${encodeURIComponent(filter.since)}`;
    const wanted = filter.dagIds && new Set(filter.dagIds);
    for await (const { rows, offset } of client.pages(
      `/dags/~/dagRuns?order_by=id${since}`,
      'dag_runs',
      Number(after ?? 0),
    )) {
      const found = rows.map((row, index) => runOfJson(row, String(offset + index + 1)));
      const page = wanted ? found.filter((run) => wanted.has(run.dagId)) : found;
      if (page.length > 0) yield page;
    }
  }

  async function* instances(of: readonly SourceRun[]): AsyncGenerator<SourceTry[]> {
    retried = [];
    for (const run of of) {
      const path = `${pathOf(run)}/taskInstances`;
      for await (const { rows } of client.pages(path, 'task_instances')) {
        const page = rows.map((row) => tryOfJson(row, run));
        for (const row of page) {
          if (row.tryNumber > 1) retried.push(row);
          learn(learnt, row);
        }
        if (page.length > 0) yield page;
      }
    }
  }

  async function* earlierTries(): AsyncGenerator<SourceTry[]> {
    for (const last of retried) {
      const mapped = last.mapIndex === -1 ? '' : `/${last.mapIndex}`;
      const found = await client.find(
        `${pathOf(last)}/taskInstances/${encodeURIComponent(last.taskId)}${mapped}/tries`,
      );
      const rows = (found?.['task_instances'] ?? []) as Json[];
      const tries = rows.map((row) => tryOfJson(row, last)).filter((row) => row.tryNumber < last.tryNumber);
      if (tries.length > 0) yield tries;
    }
  }

  return {
    name: client.name,
    version: `Airflow ${client.version}`,
    learnsTasks: true,
    pools: () => each<SourcePool>('/pools', 'pools', poolOf),
    variables: () => each<SourceVariable>('/variables', 'variables', variableOf),
    connections: () => each<SourceConnection>('/connections', 'connections', connectionOf),
    dags: () => each<SourceDag>(`/dags?${client.isV2 ? 'exclude_stale' : 'only_active'}=false`, 'dags', dagOf),
    users: () => readUsers(client),
    async dagsWithRuns() {
      const names: string[] = [];
      for await (const dag of each<SourceDag>(
        `/dags?${client.isV2 ? 'exclude_stale' : 'only_active'}=false`,
        'dags',
        dagOf,
      ))
        names.push(dag.id);
      return names;
    },
    runs,
    instances,
    earlierTries,
    serializedDag: (dagId) => serializedDag(client, dagId),
    tasks: (dagId) => Promise.resolve([...(learnt.get(dagId)?.values() ?? [])]),
    close: () => Promise.resolve(),
  };
}

const pathOf = (run: { dagId: string; runId: string }): string =>
  `/dags/${encodeURIComponent(run.dagId)}/dagRuns/${encodeURIComponent(run.runId)}`;

function learn(learnt: Map<string, Map<string, SourceTask>>, row: SourceTry): void {
  const tasks = learnt.get(row.dagId) ?? new Map<string, SourceTask>();
  learnt.set(row.dagId, tasks);
  const isMapped = row.mapIndex >= 0 || (tasks.get(row.taskId)?.isMapped ?? false);
  tasks.set(row.taskId, { taskId: row.taskId, operator: row.operator, operatorName: row.operatorName, isMapped });
}

/** Returns the DAG in the form of Airflow's database, as far as the API provides it. */
async function serializedDag(client: RestClient, dagId: string): Promise<unknown> {
  const found = await client.find(`/dags/${encodeURIComponent(dagId)}/tasks`);
  const tasks = (found?.['tasks'] ?? []) as Json[];
  return {
    dag: {
      tasks: tasks.map((task) => {
        const { class_name: type, module_path: module } = (task['class_ref'] ?? {}) as Json;
        return {
          task_id: task['task_id'],
          task_type: type,
          _operator_name: task['operator_name'],
          _task_module: module,
          _is_mapped: task['is_mapped'] === true,
          downstream_task_ids: task['downstream_task_ids'],
        };
      }),
    },
  };
}

async function readUsers(client: RestClient): Promise<SourceUser[] | { unavailable: string }> {
  const users: SourceUser[] = [];
  try {
    for await (const { rows } of client.pages(client.usersPath, 'users')) users.push(...rows.map(userOf));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { unavailable: `its API does not tell its users (${error.message}): create them with "svc users create"` };
  }
  return users;
}
