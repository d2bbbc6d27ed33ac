/** Every attempt is given the variables of its tenant: what does a chain cost with many of them? */
import pg from 'pg';
import { median, rounded } from '../figure.ts';
import type { BenchOptions } from '../figure.ts';
import { chainsInTurn } from './chains-in-turn.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';

const NUMBERS = [0, 1_000, 10_000];

export async function benchVariables(options: BenchOptions, repeats: number): Promise<void> {
  const servers: LiveServer[] = [];
  try {
    for (const number of NUMBERS) {
      const server = await startLiveServer();
      servers.push(server);
      await store(server.databaseUrl, number);
    }
    options.say(`chains with ${NUMBERS.join(', ')} variables, in turn`);
    const chains = await chainsInTurn(servers, repeats * 3);
    for (const [index, { seconds }] of chains.entries()) {
      const figure = `chain of 40 with ${NUMBERS[index]?.toLocaleString('en')} variables stored: whole run`;
      options.print({ bench: 'runs', figure, value: rounded(median(seconds)), unit: 's', runs: repeats * 3 });
    }
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
  select t.id, 'variable_' || n, 'value ' || n from tenants t, generate_series(1, $1::int) as n`;
