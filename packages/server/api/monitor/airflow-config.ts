/**
 * The current configuration in Airflow's form with sections: the first word of a key is its section. Secrets are
 * masked.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ConfigValue } from '../../config/key-definition.ts';
import { configKeys, configPathOf } from '../../config/keys.ts';
import type { Config } from '../../config/keys.ts';
import { effectiveRows } from '../../config/render-effective.ts';
import { preferredType } from '../../http/accept.ts';
import { ApiError } from '../../http/errors.ts';
import { JsonOrText } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { sendRaw } from '../../http/send-raw.ts';

const TAGS = ['Config'];
/** The section of keys that have none. */
const UNNAMED = 'core';

type Section = { name: string; options: { key: string; value: string }[] };

const ConfigSections = Type.Object(
  {
    sections: Type.Array(
      Type.Object({
        name: Type.String(),
        options: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
      }),
    ),
  },
  { title: 'Config' },
);

const ANSWER = { 200: JsonOrText(ConfigSections, 'Its sections; as text, in the form of a configuration file') };

export function registerAirflowConfig(app: App, { config }: Services): void {
  app.get(
    '/api/v2/config',
    {
      config: { grows: 'installation', access: 'read:config', refuses: ['not_found'] },
      schema: {
        operationId: 'get_config',
        tags: TAGS,
        summary: 'Get the effective configuration; `Accept: text/plain` for its text',
        querystring: Type.Object({ section: Type.Optional(Type.String({ description: 'Only this section' })) }),
        response: ANSWER,
      },
    },
    async (request, reply) => {
      const { section } = request.query;
      const all = sectionsOf(config);
      const sections = section === undefined ? all : all.filter(({ name }) => name === section);
      if (sections.length === 0) throw new ApiError('not_found', `Section ${section} not found.`);
      return answer(request, reply, sections);
    },
  );

  app.get(
    '/api/v2/config/section/:section/option/:option',
    {
      config: { grows: 'installation', access: 'read:config' },
      schema: {
        operationId: 'get_config_value',
        tags: TAGS,
        summary: 'Get one option of the effective configuration',
        params: Type.Object({ section: Type.String(), option: Type.String() }),
        response: ANSWER,
      },
    },
    async (request, reply) => {
      const { section, option } = request.params;
      const found = sectionsOf(config).find(({ name }) => name === section);
      const options = found?.options.filter(({ key }) => key === option) ?? [];
      if (options.length === 0) throw new ApiError('not_found', `Option [${section}/${option}] not found.`);
      const sections = [{ name: section, options }];
      return answer(request, reply, sections);
    },
  );
}

function sectionsOf(config: Config): Section[] {
  const entries = configKeys.map((key) => ({
    key,
    value: valueAt(config, configPathOf(key)),
    source: 'default' as const, // not shown here
    origin: '',
  }));
  const sections = new Map<string, Section>();
  for (const { key, value } of effectiveRows(entries)) {
    const dot = key.indexOf('.');
    const name = dot === -1 ? UNNAMED : key.slice(0, dot);
    const section = sections.get(name) ?? { name, options: [] };
    sections.set(name, section);
    section.options.push({ key: key.slice(dot + 1), value });
  }
  return [...sections.values()];
}

const valueAt = (config: Config, path: readonly string[]): ConfigValue =>
  path.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], config) as ConfigValue;

/** The schema describes only the JSON form, so text bypasses it. */
function answer(request: FastifyRequest, reply: FastifyReply, sections: Section[]) {
  const form = preferredType(request.headers.accept, ['application/json', 'text/plain']);
  if (form === 'application/json') return { sections };
  const text = sections.map(
    ({ name, options }) => `[${name}]\n${options.map(({ key, value }) => `${key} = ${value}\n`).join('')}`,
  );
  return sendRaw(reply.type('text/plain; charset=utf-8'), text.join('\n'));
}
