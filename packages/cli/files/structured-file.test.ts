import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connectionOf, exportedConnection, holdsMaskedSecret } from './connection-file.ts';
import { parseEnvFile, writeEnvFile } from './env-file.ts';
import { FORMATS, formatOf, parseEntries, renderEntries } from './structured-file.ts';
import { exportedVariable, variableOf } from './variable-file.ts';

const connectionsIn = async (text: string, format: (typeof FORMATS)[number]) =>
  (await parseEntries(text, format)).map(connectionOf);

describe('an env file', () => {
  it('reads quotes, comments and exports, and reports a line that is none by number, not by content', () => {
    const text = `# secrets\nexport A=1\nB = ' x '\n\nC="a\\nb"\nD=a#b=c\n`;
    expect(parseEnvFile(text)).toEqual([
      ['A', '1'],
      ['B', ' x '],
      ['C', 'a\nb'],
      ['D', 'a#b=c'],
    ]);
    expect(() => parseEnvFile('A=1\nhunter2')).toThrow('line 2 is not NAME=value');
  });

  it('gives back any value it was given', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/);
    const pairs = fc.uniqueArray(fc.tuple(name, fc.string({ unit: 'binary' })), { selector: ([key]) => key });
    fc.assert(
      fc.property(pairs, (entries) => {
        expect(parseEnvFile(writeEnvFile(entries))).toEqual(entries);
      }),
    );
  });

  it('refuses a name that would break the line', () => {
    expect(() => writeEnvFile([['a b', 'x']])).toThrow('cannot be a name');
    expect(() => writeEnvFile([['a=b', 'x']])).toThrow('cannot be a name');
  });
});

describe('connections in a file', () => {
  it('are read as Airflow writes them: an object or a URI per id', async () => {
    const json = `{"db": {"conn_type": "mysql", "host": "h", "login": null, "password": "pw", "schema": "", "port": "3306",
      "extra": {"id": 12345678901234567890}}, "web": "http://u@example.com"}`;
    expect(await connectionsIn(json, 'json')).toEqual([
      {
        connection_id: 'db',
        conn_type: 'mysql',
        host: 'h',
        login: '',
        password: 'pw',
        schema: '',
        port: 3306,
        extra: '{"id":12345678901234567890}',
      },
      { connection_id: 'web', conn_type: 'http', host: 'example.com', login: 'u', schema: '', port: null, extra: '' },
    ]);
  });

  it('keep a stored password when the file has a null for it, as every export has', async () => {
    const [body] = await connectionsIn('{"db": {"conn_type": "mysql", "password": null}}', 'json');
    expect(body).toEqual({ connection_id: 'db', conn_type: 'mysql' });
  });

  it('come from YAML and env files too, where AIRFLOW_CONN_ names an id', async () => {
    expect(await connectionsIn('db:\n  conn_type: mysql\n  port: 1\n', 'yaml')).toEqual([
      { connection_id: 'db', conn_type: 'mysql', port: 1 },
    ]);
    const bodies = await connectionsIn(`AIRFLOW_CONN_MY_DB=mysql://h\nx='{"conn_type": "aws"}'\n`, 'env');
    expect(bodies.map(({ connection_id: id, conn_type: type }) => [id, type])).toEqual([
      ['my_db', 'mysql'],
      ['x', 'aws'],
    ]);
  });

  it.each([
    ['{"db": {"host": "h"}}', 'conn_type is missing'],
    ['{"db": {"conn_type": "x", "hots": "h"}}', 'there is no field "hots"'],
    ['{"db": {"conn_type": "x", "port": "http"}}', 'port must be a number'],
    ['{"db": [1]}', 'give an object or a connection URI'],
    ['{"db": "hunter2"}', 'not a connection URI'],
  ])('that are wrong are refused by id and field: %s', async (text, message) => {
    await expect(connectionsIn(text, 'json')).rejects.toThrow(`connection "db": ${message}`);
  });

  it.each([
    ['[]', 'must be a map'],
    ['{', 'not valid JSON'],
  ])('that are no map at all are refused: %s', async (text, message) => {
    await expect(connectionsIn(text, 'json')).rejects.toThrow(message);
  });

  it('survive an export and an import in every format', async () => {
    const connection: Parameters<typeof exportedConnection>[0] = {
      connection_id: 'my_db',
      conn_type: 'postgres',
      description: 'the "main" one',
      host: 'db',
      login: null,
      schema: 's/x',
      port: 5432,
      extra: '{"api_key":"***","n":1.0}',
    };
    for (const format of FORMATS) {
      const [body] = await connectionsIn(await renderEntries([exportedConnection(connection, format)], format), format);
      const { description, ...rest } = { ...connection, login: '' };
      expect(body).toEqual(format === 'env' ? rest : { ...rest, description });
      expect(body && holdsMaskedSecret(body)).toBe(true);
    }
  });
});

describe('variables in a file', () => {
  it('are strings, JSON, or a value with a description; numbers keep their digits', async () => {
    const text = `{"a": "x", "b": {"value": 1.0, "description": "d"}, "c": {"x": 12345678901234567890}, "d": {"value": 1, "other": 2}, "e": null}`;
    expect((await parseEntries(text, 'json')).map(variableOf)).toEqual([
      { key: 'a', value: 'x' },
      { key: 'b', value: '1.0', description: 'd' },
      { key: 'c', value: '{"x":12345678901234567890}' },
      { key: 'd', value: '{"value":1,"other":2}' },
      { key: 'e', value: '' },
    ]);
  });

  it('survive an export and an import to the letter, whatever they look like', async () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.json(), fc.constantFrom('1.0', 'null', 'yes', '***'));
    const entry = fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_]{0,10}$/), value, fc.option(fc.string({ minLength: 1 })));
    const variables = fc.uniqueArray(entry, { selector: ([key]) => key, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(variables, fc.constantFrom(...FORMATS), async (list, format) => {
        const exported = list.map(([key, text, description]) =>
          exportedVariable({ key, value: text, description, is_encrypted: true }, format),
        );
        const read = (await parseEntries(await renderEntries(exported, format), format)).map(variableOf);
        expect(read).toEqual(
          list.map(([key, text, description]) => ({
            key,
            value: text,
            ...(description !== null && format !== 'env' && { description }),
          })),
        );
      }),
    );
  });
});

describe('the format of a file', () => {
  it.each([
    ['a.json', 'json'],
    ['a.YML', 'yaml'],
    ['prod.env', 'env'],
    ['.env', 'env'],
    [undefined, 'json'],
  ] as const)('%s is %s', (path, format) => {
    expect(formatOf(path, undefined)).toBe(format);
  });

  it('has to be said when the name does not say it', () => {
    expect(() => formatOf('a.txt', undefined)).toThrow('format does not follow');
    expect(formatOf('a.txt', 'env')).toBe('env');
  });
});
