/** A small dbt project on DuckDB. Its svc.yaml alone defines the DAG: a seed, a view, a table and their tests. */

/** Returns a valid name of a dbt project: letters, digits and underscores, starting with a letter. */
const dbtName = (dagId: string): string => dagId.replaceAll(/\W|-/g, '_').replace(/^(?![A-Za-z])/, 'dbt_');

export function dbtProjectFiles(dagId: string): Record<string, string> {
  const name = dbtName(dagId);
  return {
    'svc.yaml': svcYaml(dagId),
    'dbt_project.yml': `name: ${name}
version: "1.0"
profile: ${name}
models:
  ${name}:
    marts:
      +materialized: table
`,
    'profiles.yml': profiles(name),
    'seeds/raw_orders.csv': 'id,customer,amount\n1,ann,10.0\n2,bob,20.5\n3,ann,4.5\n',
    'models/staging/stg_orders.sql':
      "select id, customer, cast(amount as decimal(10, 2)) as amount\nfrom {{ ref('raw_orders') }}\n",
    'models/marts/revenue.sql':
      "select customer, sum(amount) as revenue\nfrom {{ ref('stg_orders') }}\ngroup by customer\n",
    'models/schema.yml': SCHEMA,
    '.gitignore': 'target/\nlogs/\ndbt_packages/\n.user.yml\n*.duckdb\n__pycache__/\n.venv/\n.env\nbuild/\n',
  };
}

const svcYaml = (
  dagId: string,
): string => `# A dbt project as a DAG: its models become tasks. docs/dbt.md and docs/svc-yaml.md have all keys.
dag_id: ${JSON.stringify(dagId)}
python_version: "3.11"
dependencies: ["dbt-core<1.11", dbt-duckdb]

dbt:
  # schedule: "0 5 * * *"
  granularity: level   # or node: a task for each model, and one for its tests; or folder
  # conn_id: warehouse # a connection to make the profile of, instead of profiles.yml
`;

/** Only one process may write to a DuckDB file. All tasks share one file, in a place that their user may write. */
const profiles = (name: string): string => `${name}:
  target: dev
  outputs:
    dev:
      type: duckdb
      path: "{{ env_var('DUCKDB_FILE', '/tmp/${name}.duckdb') }}"
`;

const SCHEMA = `version: 2
models:
  - name: stg_orders
    columns:
      - name: id
        data_tests: [unique, not_null]
  - name: revenue
    description: What each customer has spent
    columns:
      - name: customer
        data_tests: [unique]
`;
