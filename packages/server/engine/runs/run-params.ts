/** The params of a run: the values of the trigger over the DAG's defaults, checked against the schema of each param. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { PARAM_FORMATS } from '@svc/spec/param-formats.ts';
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import { compareExactly, compileExactly } from './exact-schema.ts';
import type { SchemaCheck } from './exact-schema.ts';

// Not strict, because authors' schemas contain the trigger form's own keywords (values_display, section …).
const ajv = compareExactly(new Ajv2020({ strict: false, allErrors: true, validateFormats: true }));
formats.default(ajv);
for (const [name, check] of Object.entries(PARAM_FORMATS)) ajv.addFormat(name, check);
const compiled = new WeakMap<ParamSpec, SchemaCheck>();

export function mergeParams(
  params: readonly ParamSpec[],
  conf: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const param of params) merged[param.name] = param.default ?? null;
  return { ...merged, ...conf };
}

/** Returns the problems of a trigger's conf, one sentence per param; empty when it is valid. */
export function paramProblems(params: readonly ParamSpec[], conf: Readonly<Record<string, unknown>>): string[] {
  return params.flatMap((param) => {
    const isGiven = Object.hasOwn(conf, param.name);
    if (!isGiven && !param.has_default) return [`conf.${param.name}: the DAG needs a value for this param`];
    const value = isGiven ? conf[param.name] : param.default;
    const check = validatorOf(param);
    const errors = check?.(value) ?? [];
    if (errors.length === 0) return [];
    // An error that lists the allowed values helps more than one about types or about forms that do not fit.
    const telling = errors.find(({ keyword }) => keyword === 'enum' || keyword === 'const') ?? errors[0];
    return [`conf.${param.name}${telling?.instancePath ?? ''}: ${telling ? whatIsAllowed(telling) : 'is not valid'}`];
  });
}

const MAX_VALUES = 50;

function whatIsAllowed({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  switch (keyword) {
    case 'enum': {
      const values = params['allowedValues'] as unknown[];
      const more = values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : '';
      return `must be one of ${values
        .slice(0, MAX_VALUES)
        .map((value) => JSON.stringify(value))
        .join(', ')}${more}`;
    }
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'additionalProperties':
      return `must not have the key ${JSON.stringify(params['additionalProperty'])}`;
    default:
      return message;
  }
}

function validatorOf(param: ParamSpec): SchemaCheck | undefined {
  const known = compiled.get(param);
  if (known) return known;
  try {
    const validator = compileExactly(ajv, param.schema);
    compiled.set(param, validator);
    return validator;
  } catch {
    return undefined; // an unreadable schema refuses nothing, as in Airflow
  }
}
