/**
 * Lists of what holds data of authors (the conf of runs, the extra of events) are written item by item, and others get their
 * turn in between: each item may have a MiB, which takes 5 to 20 ms to write, and a list may have a thousand.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mapInTurns } from './map-in-turns.ts';
import { holdsAuthorData } from './masked-fields.ts';

/** Of an item: fields that are JSON already, for answers that are made of pieces which are kept. */
export const WRITTEN = Symbol('fields that are JSON already');
type Item = { [WRITTEN]?: Readonly<Record<string, string>> };

type ListSchema = { properties?: Record<string, { type?: string; items?: Record<string, unknown> }> };

/** To be called after masked fields are installed, which come first, and before any route is registered. */
export function installListsInTurns(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const schema = (route.schema?.response as Record<number, ListSchema> | undefined)?.[200];
    const lists = Object.entries(schema?.properties ?? {}).filter(([, { type }]) => type === 'array');
    const [name, list] = lists[0] ?? [];
    if (!schema || lists.length !== 1 || name === undefined || !list?.items || !holdsAuthorData(list.items)) return;
    const { items: itemSchema } = list;

    const hook = async (_request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
      const items = (payload as Record<string, unknown>)[name];
      if (reply.statusCode !== 200 || !Array.isArray(items)) return payload;
      const written = await mapInTurns(items as readonly Item[], (item) =>
        withWritten(reply.serializeInput(item, itemSchema), item[WRITTEN]),
      );
      const around = reply.serializeInput({ ...(payload as object), [name]: [] }, schema);
      const empty = `${JSON.stringify(name)}:[]`; // inside a text its quotes would be escaped
      const text = around.replace(empty, () => `${empty.slice(0, -1)}${written.join()}]`);
      reply.serializer(() => text);
      return payload;
    };
    route.preSerialization = [...[route.preSerialization ?? []].flat(), hook];
  });
}

function withWritten(text: string, fields: Readonly<Record<string, string>> = {}): string {
  const more = Object.entries(fields).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return more.length === 0 ? text : `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join()}}`;
}
