/**
 * Twenty DAGs that are broken in twenty ways (the files are in broken-dags/), each with the sentence a good engineer would say
 * about it and the facts that sentence needs. One call of `diagnose_run` has to contain them all.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DAGS = join(import.meta.dirname, 'broken-dags');

export type BrokenDag = {
  /** Of the file, and of the DAG in it. */
  name: string;
  /** What a good engineer would say. */
  sentence: string;
  facts: readonly RegExp[];
  /** What the message of an alert has to contain. Left out where no task fails. */
  alertFacts?: readonly RegExp[];
  /** How it is brought to where the question is asked. `triggered` is what most are. */
  begins?: 'scheduled' | 'never';
  /** States of tasks that tell it is there; otherwise the end of the run. */
  reached?: Record<string, string>;
  /** What stands for something that cannot be had here. */
  standIn?: string;
  /** The task that decided how the run ended, when nothing failed. */
  decidedBy?: string;
};

export const BROKEN_DAGS: readonly BrokenDag[] = [
  {
    name: 'bad_sql',
    sentence:
      'load_orders asks for the column custmer_id, which the table does not have; publish could not run because of it.',
    facts: [
      /no such column: custmer_id/,
      /select custmer_id, sum\(total\) from orders/,
      /bad_sql\.py:15/,
      /blocks 1 downstream: publish/,
    ],
    alertFacts: [/no such column: custmer_id/, /at bad_sql\.py:15: /, /blocks 1: publish/],
  },
  {
    name: 'missing_connection',
    sentence: 'extract uses the connection warehouse_prod, which is not defined here.',
    facts: [/Failed task extract/, /conn_id `warehouse_prod` isn't defined/, /missing_connection\.py:9/],
    alertFacts: [/conn_id `warehouse_prod` isn't defined/, /at missing_connection\.py:9/],
  },
  {
    name: 'time_out',
    sentence: 'crawl was stopped by its execution_timeout of 3 s while it fetched page 5 or so of 1000.',
    facts: [
      /cause execution_timeout/,
      /execution_timeout of 3 s/,
      /fetching page \d+ of 1000/,
      /blocks 1 downstream: index/,
    ],
    alertFacts: [/^execution_timeout: /, /execution_timeout of 3 s/, /blocks 1: index/],
  },
  {
    name: 'out_of_memory',
    sentence: 'aggregate ran out of memory (MemoryError) while it kept chunks of 16 MiB in a list.',
    facts: [/MemoryError/, /rows\.append\(bytearray\(16 \* 1024 \* 1024\)\)/, /chunks of 16 MiB in memory/],
    alertFacts: [/MemoryError/, /rows\.append\(bytearray/],
  },
  {
    name: 'upstream_data',
    sentence:
      'load_orders found no orders-2026-11-15.csv, because export_orders before it succeeded without exporting anything.',
    facts: [
      /No such file or directory: '[^']*orders-2026-11-15\.csv'/,
      /before it: export_orders \(success\).*nothing exported/,
      /blocks 1 downstream: refresh_dashboard/,
    ],
    alertFacts: [/No such file or directory: '[^']*orders-2026-11-15\.csv'/, /blocks 1: refresh_dashboard/],
  },
  {
    name: 'wrong_type',
    sentence: 'count_rows hands on the text "1200", and add_header adds a number to it.',
    facts: [
      /can only concatenate str \(not \\"int\\"\) to str/,
      /total = rows \+ 1/,
      /"op_args":\["1200"\]/,
      /before it: count_rows/,
    ],
    alertFacts: [/can only concatenate str \(not "int"\) to str/, /total = rows \+ 1/],
  },
  {
    name: 'flaky_network',
    sentence:
      'fetch_orders lost its connection and is tried again in half an hour, twice at most; fetch_rates had the same trouble and succeeded at its second try.',
    facts: [
      /Connection reset by peer/,
      /will be tried again at \d{4}-\d\d-\d\dT[\d:.]+Z, 2 retries left/,
      /fetch_rates: succeeded at try 2; try 1 failed at .*Connection reset by peer/,
      /http:\/\/127\.0\.0\.1:\{port\}\/orders/,
    ],
    reached: { fetch_rates: 'success', fetch_orders: 'up_for_retry' },
  },
  {
    name: 'deadlocked_pool',
    sentence:
      'hold_and_wait has the only slot of the pool narrow and waits for what prepare makes, and prepare waits for that slot: neither ever ends.',
    facts: [
      /Pool "narrow": 1 of 1 slots are occupied; prepare waits for it/,
      /held by hold_and_wait of deadlocked_pool/,
      /hold_and_wait: running.*waiting for what prepare makes/,
      /held by tasks of this same run/,
    ],
    reached: { hold_and_wait: 'running', prepare: 'scheduled' },
  },
  {
    name: 'import_error',
    sentence:
      'import_error.py does not compile: line 7 uses DEFAULT_RETRIES, which is not defined, so there is no such DAG.',
    facts: [/There is no DAG import_error/, /import_error\.py:7: NameError: name 'DEFAULT_RETRIES' is not defined/],
    begins: 'never',
  },
  {
    name: 'missing_package',
    sentence: 'upload imports snowflake.connector, which is not installed where tasks run.',
    facts: [/No module named 'snowflake'/, /import snowflake\.connector/, /Failed task upload/],
    alertFacts: [/No module named 'snowflake'/, /import snowflake\.connector/],
  },
  {
    name: 'permission',
    sentence: 'write_report may not write report.csv into the finance folder.',
    facts: [
      /Permission denied: '[^']*finance-[^']*report\.csv'/,
      /permission\.py:17 in write_report/,
      /blocks 1 downstream: send/,
    ],
    alertFacts: [/Permission denied: '[^']*finance-[^']*report\.csv'/, /at permission\.py:17/, /blocks 1: send/],
  },
  {
    name: 'disk_full',
    sentence: 'export ran out of disk space while it wrote orders.csv.',
    facts: [/No space left on device/, /Writing 100000 rows to \S*orders\.csv/, /blocks 1 downstream: upload/],
    alertFacts: [/No space left on device/, /blocks 1: upload/],
  },
  {
    name: 'encoding',
    sentence: 'customers.csv is not UTF-8: byte 0xe9 cannot be decoded, so it is probably Latin-1.',
    facts: [
      /'utf-8' codec can't decode byte 0xe9/,
      /Reading \S*customers\.csv as utf-8/,
      /encoding\.py:\d+ in read_customers/,
    ],
    alertFacts: [/'utf-8' codec can't decode byte 0xe9/, /at encoding\.py:\d+/],
  },
  {
    name: 'zone_mistake',
    sentence:
      'The schedule 0 6 * * * is read in America/New_York, so it means 11:00 UTC, and the task wants 06:00 UTC; it failed the same way the day before.',
    facts: [
      /Schedule "0 6 \* \* \*".* in the zone America\/New_York/,
      /Logical date 2026-01-06T11:00:00\.000000Z, which is 2026-01-06 06:00 in America\/New_York/,
      /the interval ends at 11:00 UTC/,
      /The run before, scheduled__2026-01-05T11:00:00\+00:00, is failed/,
    ],
    begins: 'scheduled',
  },
  {
    name: 'wrong_schedule',
    sentence: 'It has never run and never will: 0 6 31 2 * means the 31st of February.',
    facts: [
      /has never run/,
      /"0 6 31 2 \*" \("At 06:00, on day 31 of the month, only in February"\)/,
      /next run none/,
      /date that does not exist/,
    ],
    begins: 'never',
  },
  {
    name: 'skipped_by_branch',
    sentence: 'Nothing failed: the branch is_there_work chose note_empty, so load was skipped, and publish after it.',
    facts: [
      /succeeded: nothing failed in 5 tasks, but 2 were skipped/,
      /load: the branch is_there_work chose note_empty/,
      /publish: load before it was skipped/,
    ],
    decidedBy: 'is_there_work',
  },
  {
    name: 'sensor_never',
    sentence: 'wait_for_export gave up after its timeout of 4 s: the file export/_SUCCESS never came.',
    facts: [/cause sensor_timeout/, /timeout of 4/, /export\/_SUCCESS/, /blocks 1 downstream: load/],
    alertFacts: [/^sensor_timeout: /, /timeout of 4/, /blocks 1: load/],
  },
  {
    name: 'mapped_item',
    sentence: 'Of 40 instances of parse one failed, number 17: part-17.json.tmp is not a finished file.',
    facts: [
      /Failed task parse\[17\]/,
      /1 of 40 instances of the mapped task failed/,
      /part-17\.json\.tmp is not a finished file/,
      /blocks 1 downstream: merge/,
    ],
    alertFacts: [/part-17\.json\.tmp is not a finished file/, /at mapped_item\.py:\d+/, /blocks 1: merge/],
  },
  {
    name: 'dbt_model',
    sentence:
      'The dbt model stg_orders reads the column ordered_at, which raw_orders does not have; orders_by_day was skipped.',
    facts: [
      /model (?:\w+\.)?stg_orders \(models\/staging\/stg_orders\.sql\): failed according to the log of build/,
      /column "ordered_at" not found/,
      /SKIP relation main\.orders_by_day/,
      /blocks 1 downstream: publish/,
    ],
  },
  {
    name: 'kubernetes_image',
    sentence: 'The image registry.example.com/ml/score:2.41 does not exist, so the pod of score never started.',
    facts: [
      /ImagePullBackOff/,
      /registry\.example\.com\/ml\/score:2\.41: not found/,
      /Failed task score \(PodOperator\)/,
      /blocks 1 downstream: publish/,
    ],
    standIn: 'no cluster: an operator that fails with messages written after those of a kubelet',
    alertFacts: [/ImagePullBackOff/, /registry\.example\.com\/ml\/score:2\.41/, /blocks 1: publish/],
  },
];

/** Facts that the message of an alert lacks. */
export const missingInAlert = ({ alertFacts = [] }: BrokenDag, text: string): string[] =>
  alertFacts.filter((fact) => !fact.test(text)).map((fact) => fact.source);

export const sourceOf = (name: string): string => readFileSync(join(DAGS, `${name}.py`), 'utf8');

/** Pinned, for a dbt of its own. */
export const DBT_REQUIREMENTS = join(DAGS, 'dbt-requirements.txt');

/** What a run needs before it can begin: a pool, and the program of the variable `dbt`. */
export const POOL = { name: 'narrow', slots: 1 };

/** Facts that an answer lacks. */
export const missingFacts = ({ facts }: BrokenDag, text: string): string[] =>
  facts.filter((fact) => !fact.test(text)).map((fact) => fact.source);
