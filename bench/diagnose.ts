// Runs twenty DAGs that are broken in twenty ways on a lite, and calls diagnose_run for each through the official
// client. For each it prints the tokens of the answer, the missing facts that a good engineer's sentence needs, and the
// time. It exits with 1 if an answer lacks a fact or has more than 4,000 tokens.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { BROKEN_DAGS, DBT_REQUIREMENTS, POOL, missingFacts, sourceOf } from '@svc/testing/mcp/broken-dags.ts';
import type { BrokenDag } from '@svc/testing/mcp/broken-dags.ts';
import { callTool, connectHttp, startToolServer } from '@svc/testing/mcp/connect.ts';
import { beginBrokenDag, brokenDagIsThere } from '@svc/testing/mcp/run-broken-dag.ts';
import { VirtualEnvironmentError, virtualEnvironment } from '@svc/testing/virtual-environment.ts';
import { startLite } from '@svc/testing/web-ui/lite-instance.ts';
import { rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const MAX_TOKENS = 4_000;

export async function run({ text, print, say }: BenchOptions): Promise<void> {
  const only = text('only');
  const cases = BROKEN_DAGS.filter(({ name }) => only === undefined || name.includes(only));
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-diagnose-'));
  await chmod(directory, 0o755); // tasks may run as another user
  const dbt = await dbtProgram(directory, say);
  const dags = Object.fromEntries(cases.map(({ name }) => [`${name}.py`, sourceOf(name)]));
  say('starting a lite with the broken DAGs');
  const lite = await startLite({ examples: [], dags });
  const tools = await startToolServer(lite.url);
  const client = await connectHttp(tools.url, await lite.login());
  let failed = 0;
  try {
    await lite.api('POST', '/pools', POOL);
    await lite.api('POST', '/variables', { key: 'dbt', value: dbt.command });
    say('running them');
    const runs: (readonly [BrokenDag, string | undefined])[] = [];
    for (const one of cases) runs.push([one, await beginBrokenDag(lite.api, one)]);
    for (const [one, runId] of runs) if (runId !== undefined) await brokenDagIsThere(lite.api, one, runId);
    for (const [one, runId] of runs) {
      const start = performance.now();
      const answer = await callTool(client, 'diagnose_run', {
        dag_id: one.name,
        ...(runId !== undefined && { run_id: runId }),
      });
      const ms = performance.now() - start;
      // Clients give a model one of the two forms, so the longer one counts.
      const tokens = Math.max(countTokens(answer.text), countTokens(JSON.stringify(answer.structured)));
      const missing = missingFacts(one, answer.text);
      if (missing.length > 0 || tokens > MAX_TOKENS) {
        failed += 1;
        say(`${one.name} lacks ${missing.join(' and ') || 'nothing'} in ${tokens} tokens:\n${answer.text}\n`);
      }
      const standIn = one.name === 'dbt_model' ? dbt.standIn : one.standIn;
      print({
        bench: 'diagnose',
        figure: one.name,
        value: one.facts.length - missing.length,
        unit: `of ${one.facts.length} facts`,
        tokens,
        text_tokens: countTokens(answer.text),
        ms: rounded(ms, 0),
        missing: missing.join(' | '),
        ...(standIn !== undefined && { stand_in: standIn }),
      });
    }
    print({ bench: 'diagnose', figure: 'passed', value: cases.length - failed, unit: `of ${cases.length} cases` });
  } finally {
    await client.close();
    await tools.close();
    await lite.stop();
    await rm(directory, { recursive: true, force: true });
  }
  if (failed > 0) throw new Error(`${failed} of ${cases.length} answers lack what is needed`);
}

/** Returns dbt, or a program that prints its recorded output if the package index lacks dbt. */
async function dbtProgram(
  directory: string,
  say: BenchOptions['say'],
): Promise<{ command: string; standIn: string | undefined }> {
  try {
    const python = await virtualEnvironment({ name: 'dbt', requirements: [DBT_REQUIREMENTS] });
    return { command: `${python} -c 'from dbt.cli.main import cli; cli()'`, standIn: undefined };
  } catch (error) {
    if (!(error instanceof VirtualEnvironmentError)) throw error;
    say(`dbt cannot be installed, its recorded output is printed instead: ${error.message}`);
    const program = join(directory, 'dbt');
    await writeFile(program, `#!/bin/sh\ncat <<'END'\n${RECORDED}END\nexit 1\n`, { mode: 0o755 });
    return { command: program, standIn: 'no dbt: a program that prints what dbt 1.10.23 printed' };
  }
}

const RECORDED = `20:49:51  Running with dbt=1.10.23
20:49:53  Registered adapter: duckdb=1.11.1
20:49:55  Found 3 models, 511 macros
20:49:56  1 of 3 START sql view model main.raw_orders .................................... [RUN]
20:49:56  1 of 3 OK created sql view model main.raw_orders ............................... [OK in 0.13s]
20:49:56  2 of 3 START sql view model main.stg_orders .................................... [RUN]
20:49:56  2 of 3 ERROR creating sql view model main.stg_orders ........................... [ERROR in 0.21s]
20:49:56  3 of 3 SKIP relation main.orders_by_day ........................................ [SKIP]
20:49:56  Completed with 1 error, 0 partial successes, and 0 warnings:
20:49:56  Failure in model stg_orders (models/staging/stg_orders.sql)
20:49:56    Runtime Error in model stg_orders (models/staging/stg_orders.sql)
  Binder Error: Referenced column "ordered_at" not found in FROM clause!
20:49:56  Done. PASS=1 WARN=0 ERROR=1 SKIP=1 NO-OP=0 TOTAL=3
`;
