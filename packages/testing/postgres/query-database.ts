import pg from 'pg';

/** One statement on a connection of its own: for looking past the code under test at what is really there. */
export async function queryDatabase<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // told by the statement; between two, nobody has to know
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}
