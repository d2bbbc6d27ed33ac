/** One client of a chaos run: writes, deletes and reads variables and connections of its own, and keeps the ledger. */
import type { Ledger, Value } from './ledger.ts';
import type { Random } from './random.ts';

export type ChaosClient = {
  /** One random request to a random server. */
  step(): Promise<void>;
  /** Reads everything it ever wrote from this server and compares. */
  verify(server: string): Promise<void>;
};

type Thing = {
  kind: 'variable' | 'connection';
  /** Unique among all clients, so that only this one writes it. */
  id: string;
};

export type ClientOptions = {
  name: string;
  token: string;
  servers: readonly string[];
  random: Random;
  ledger: Ledger;
  /** Called with each status, for the report. */
  onAnswer(status: number): void;
  onViolation(message: string): void;
};

const THINGS_PER_KIND = 5;
const COLLECTION = { variable: '/api/v2/variables', connection: '/api/v2/connections' } as const;

export function createChaosClient(options: ClientOptions): ChaosClient {
  const { name, token, servers, random, ledger, onAnswer, onViolation } = options;
  const things = (['variable', 'connection'] as const).flatMap((kind) =>
    Array.from({ length: THINGS_PER_KIND }, (_, n): Thing => ({ kind, id: `chaos.${name}.${kind}.${n}` })),
  );
  let writes = 0;

  /** Undefined when there was no valid answer at all, which is itself a violation. */
  async function call(
    url: string,
    method: string,
    body?: object,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      onAnswer(response.status);
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    } catch (error) {
      onViolation(`${method} ${url}: no answer: ${describe(error)}`);
      return undefined;
    }
  }

  async function write(server: string, thing: Thing): Promise<void> {
    writes += 1;
    const value = `${name}-${writes}`;
    const answer = await call(`${server}${COLLECTION[thing.kind]}`, 'POST', bodyOf(thing, value));
    if (answer?.status === 201) ledger.acknowledge(thing.id, value);
    else ledger.doubt(thing.id, value);
    if (answer && answer.status !== 201) refuseUnlessOutage('POST', thing, answer);
  }

  async function remove(server: string, thing: Thing): Promise<void> {
    const answer = await call(`${server}${COLLECTION[thing.kind]}/${thing.id}`, 'DELETE');
    if (answer?.status === 204) ledger.acknowledge(thing.id, null);
    else if (answer?.status === 404) complain(ledger.check(thing.id, null));
    else ledger.doubt(thing.id, null);
    if (answer && answer.status !== 204 && answer.status !== 404) refuseUnlessOutage('DELETE', thing, answer);
  }

  async function read(server: string, thing: Thing): Promise<boolean> {
    const answer = await call(`${server}${COLLECTION[thing.kind]}/${thing.id}`, 'GET');
    if (answer?.status === 404) complain(ledger.check(thing.id, null));
    else if (answer?.status === 200) complain(ledger.check(thing.id, valueOf(thing, answer.body)));
    else if (answer) refuseUnlessOutage('GET', thing, answer);
    return answer?.status === 404 || answer?.status === 200;
  }

  function complain(complaint: string | undefined): void {
    if (complaint !== undefined) onViolation(complaint);
  }

  function refuseUnlessOutage(method: string, thing: Thing, answer: { status: number; body: unknown }): void {
    const { type } = (answer.body ?? {}) as { type?: string };
    if (answer.status !== 503 || type !== 'urn:svc:error:database_unavailable') {
      onViolation(`${method} ${thing.id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }

  return {
    async step() {
      const server = random.pick(servers);
      const thing = random.pick(things);
      const dice = random.below(10);
      if (dice < 6) await write(server, thing);
      else if (dice < 7) await remove(server, thing);
      else await read(server, thing);
    },
    async verify(server) {
      for (const thing of things) {
        if (!(await read(server, thing))) onViolation(`${thing.id} could not be read at the end`);
      }
    },
  };
}

/** A connection says its value twice, in clear and sealed: half of a write would show. */
function bodyOf({ kind, id }: Thing, value: string): object {
  return kind === 'variable'
    ? { key: id, value }
    : { connection_id: id, conn_type: 'http', host: value, extra: JSON.stringify({ value }) };
}

function valueOf({ kind }: Thing, body: unknown): Value {
  if (kind === 'variable') return (body as { value: string }).value;
  const { host, extra } = body as { host: string; extra: string };
  return extra === JSON.stringify({ value: host }) ? host : `torn: ${host} / ${extra}`;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
