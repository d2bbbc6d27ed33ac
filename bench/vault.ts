// Measures what every attempt receives, the variables of its tenant and its templates: the cost of a chain with many of
// them.

import pg from 'pg';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { chainsInTurn } from './runs/chains-in-turn.ts';
import { templateTimes } from './runs/templates.ts';

const STORED = 10_000;

/** Prints ratios within one run, because the speed of the machine changes between two runs. */
export async function run(options: BenchOptions): Promise<void> {
  const only = options.text('only');
  if (only === undefined || only === 'variables') await benchStored(options);
  if (only === undefined || only === 'templates') await templateTimes(options);
}

async function benchStored(options: BenchOptions): Promise<void> {
  const repeats = options.number('runs', 5);
  const servers: LiveServer[] = [];
  try {
    for (const number of [0, STORED]) {
      const server = await startLiveServer();
      servers.push(server);
      await store(server.databaseUrl, number);
    }
    options.say(`chains of 40 with none and with ${STORED} variables, half of them secret, in turn`);
    const [without = Number.NaN, stored = Number.NaN] = (await chainsInTurn(servers, repeats)).map(({ seconds }) =>
      median(seconds),
    );
    const print = (figure: string, value: number, unit: string): void =>
      options.print({ bench: 'vault', figure, value: rounded(value), unit, runs: repeats });
    print('chain of 40, no variables stored: whole run', without, 's');
    print('chain of 40, 10,000 variables stored: whole run', stored, 's');
    print('chain of 40, 10,000 variables stored against none', stored / without, 'ratio');
  } finally {
    for (const server of servers) await server.close();
  }
}

async function store(url: string, number: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(INSERT, [number]);
  } finally {
    await client.end();
  }
}

const INSERT = `
  insert into variables (tenant_id, key, value_plain)
  select t.id, case when n % 2 = 0 then 'variable_' else 'api_key_' end || n, 'value of number ' || n
  from tenants t, generate_series(1, $1::int) as n`;
