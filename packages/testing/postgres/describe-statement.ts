/** What Postgres knows of a statement without executing it: Parse and Describe of its protocol. */
import type { Client, Connection, Submittable } from 'pg';

export type DescribedColumn = { name: string; dataTypeID: number };

/** The messages of the protocol, for which pg has no types. */
type Messages = {
  parse(query: { name: string; text: string; types: number[] }): void;
  describe(what: { type: 'S'; name: string }): void;
  sync(): void;
};

/** Returns the columns of its rows. Rejects when Postgres does not accept the text. */
export function describeStatement(client: Client, text: string): Promise<DescribedColumn[]> {
  return new Promise((resolve, reject) => {
    let columns: DescribedColumn[] = [];
    const query = {
      submit(connection: Connection): void {
        const messages = connection as unknown as Messages;
        messages.parse({ name: '', text, types: [] });
        messages.describe({ type: 'S', name: '' });
        messages.sync();
      },
      handleParseComplete(): void {},
      handleRowDescription({ fields }: { fields: DescribedColumn[] }): void {
        columns = fields;
      },
      handleReadyForQuery: (): void => resolve(columns),
      handleError: reject,
    };
    client.query(query satisfies Submittable);
  });
}
