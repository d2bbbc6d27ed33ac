/**
 * Masks fields that contain what authors and tasks wrote, because these may contain secrets. A caller without write
 * access to the object sees them masked. The schema of a field declares this, so every route that answers with the
 * field is covered, and the OpenAPI document shows it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { Permission } from '../auth/permissions.ts';
import type { ReaderMask, ReaderMasks } from '../vault/reader-masks.ts';
import { principalOf } from './access.ts';
import { mapInTurns } from './map-in-turns.ts';

const KEYWORD = 'x-masked-without';

/** The permission that shows the value. `nobody` masks it for every caller. */
type Writer = Permission | 'nobody';

/** Spread this into the options of the schema of a field. */
export const maskedWithout = (permission: Writer): Record<typeof KEYWORD, Writer> => ({ [KEYWORD]: permission });

/** Returns undefined when the caller may see everything. */
export async function maskFor(
  request: FastifyRequest,
  masks: ReaderMasks,
  permission: Writer,
): Promise<ReaderMask | undefined> {
  const { tenantId, permissions } = principalOf(request);
  return permission !== 'nobody' && permissions.has(permission) ? undefined : await masks.of(tenantId);
}

/** Must be called before any route is registered. */
export function installMaskedFields(app: FastifyInstance, masks: ReaderMasks): void {
  app.addHook('onRoute', (route) => {
    const plan = planOf(route.schema?.response);
    if (!plan) return;
    const hook = async (request: FastifyRequest, _reply: unknown, payload: unknown): Promise<unknown> => {
      const missing = [...plan.writers].filter(
        (one) => one === 'nobody' || !request.maybePrincipal?.permissions.has(one),
      );
      if (missing.length === 0 || !request.maybePrincipal) return payload;
      return masked(payload, plan, {
        missing: new Set(missing),
        mask: await masks.of(request.maybePrincipal.tenantId),
      });
    };
    route.preSerialization = [...[route.preSerialization ?? []].flat(), hook];
  });
}

/** The places of masked fields in an answer. */
type Plan = {
  writers: ReadonlySet<Writer>;
  /** The permission that shows the value itself. */
  writer: Writer | undefined;
  fields: ReadonlyMap<string, Plan>;
  items: Plan | undefined;
};

export const holdsAuthorData = (schema: object): boolean => planOf(schema) !== undefined;

type SchemaNode = {
  [KEYWORD]?: Writer;
  properties?: Record<string, unknown>;
  items?: unknown;
};

const NOTHING: Plan = { writer: undefined, fields: new Map(), items: undefined, writers: new Set() };

const plans = new WeakMap<object, Plan | null>();

function planOf(schema: unknown): Plan | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const known = plans.get(schema);
  if (known !== undefined) return known ?? undefined;
  plans.set(schema, null); // stops the recursion of a schema that contains itself
  const { [KEYWORD]: writer, properties, items } = schema as SchemaNode;
  const fields = new Map<string, Plan>();
  for (const [name, field] of Object.entries(properties ?? {})) {
    const plan = planOf(field);
    if (plan) fields.set(name, plan);
  }
  // The value may match any member of a union. Answers by status and by media type are handled in the same way.
  const others: Plan[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' || key === 'items' || typeof value !== 'object') continue;
    const plan = planOf(value);
    if (plan) others.push(plan);
  }
  const own: Plan = { writer, fields, items: planOf(items), writers: new Set() };
  // Most schemas end here, and every start looks at thousands of them.
  if (!writer && fields.size === 0 && !own.items && others.length === 0) return undefined;
  const plan = others.reduce(joined, joined(own, NOTHING));
  const result = plan.writers.size === 0 ? null : plan;
  plans.set(schema, result);
  return result ?? undefined;
}

function joined(a: Plan, b: Plan): Plan {
  const fields = new Map(a.fields);
  for (const [name, plan] of b.fields)
    fields.set(name, fields.has(name) ? joined(fields.get(name) ?? plan, plan) : plan);
  const items = a.items && b.items ? joined(a.items, b.items) : (a.items ?? b.items);
  const writer = a.writer ?? b.writer;
  const below = [...fields.values(), ...(items ? [items] : [])].flatMap(({ writers }) => [...writers]);
  return { writer, fields, items, writers: new Set([...(writer ? [writer] : []), ...below]) };
}

type Masking = { missing: ReadonlySet<Writer>; mask: ReaderMask };

/**
 * Returns a copy if something is masked, otherwise the value itself. Answers may be cached, so they must not change.
 */
async function masked(value: unknown, plan: Plan, masking: Masking): Promise<unknown> {
  if (value === null || value === undefined) return value;
  if (plan.writer && masking.missing.has(plan.writer)) {
    const text = JSON.stringify(value);
    const shown = await masking.mask(text);
    return shown === text ? value : parseJsonInTurns(shown, { parse: parseExact });
  }
  if (Array.isArray(value)) {
    const { items } = plan;
    return items ? mapInTurns(value, (item) => masked(item, items, masking)) : value;
  }
  if (typeof value !== 'object') return value;
  const copy: Record<string, unknown> = { ...value };
  for (const [name, field] of plan.fields)
    if (Object.hasOwn(copy, name)) copy[name] = await masked(copy[name], field, masking);
  return copy;
}
