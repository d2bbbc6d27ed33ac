/**
 * Serialises lists that contain data of authors (the conf of runs, the extra of events) item by item. Other work runs
 * between the items. An item may have a MiB and a list a thousand items, so one pass would block the event loop.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AnswerTooLargeError, MAX_ANSWER_BYTES } from '../db/answer-size.ts';
import { mapInTurns } from './map-in-turns.ts';
import { holdsAuthorData } from './masked-fields.ts';

/** Fields of an item that are JSON already, for answers that are assembled from cached pieces. */
export const WRITTEN = Symbol('fields that are JSON already');
type Item = { [WRITTEN]?: Readonly<Record<string, string>> };

type ListSchema = { properties?: Record<string, { type?: string; items?: Record<string, unknown> }> };

/** Must be called before any route is registered, and after masked fields are installed, because masking runs first. */
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
      let bytes = 0;
      const written = await mapInTurns(items as readonly Item[], (item) => {
        const text = withWritten(reply.serializeInput(item, itemSchema), item[WRITTEN]);
        bytes += Buffer.byteLength(text);
        if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLargeError(MAX_ANSWER_BYTES);
        return text;
      });
      const around = reply.serializeInput({ ...(payload as object), [name]: [] }, schema);
      // Inside a JSON string its quotes would be escaped, so no text of an author matches.
      const empty = `${JSON.stringify(name)}:[]`;
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
