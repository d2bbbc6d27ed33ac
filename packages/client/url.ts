/** Builds the URL of an operation from its path and parameters. */

type Value = string | number | boolean;
export type PathParameters = Readonly<Record<string, Value>>;
export type Query = Readonly<Record<string, Value | readonly Value[] | null | undefined>>;

/** An id that has another meaning in a path. The call would reach another resource than the named one. */
export class UnusableIdError extends Error {}

export function urlOf(input: {
  /** The origin, and a path if there is one, without a final slash. */
  server: string;
  /** For example `/api/v2/dags/{dag_id}`. */
  path: string;
  parameters?: PathParameters | undefined;
  query?: Query | undefined;
}): string {
  const { server, path, parameters = {}, query = {} } = input;
  return `${server}${fillPath(path, parameters)}${queryString(query)}`;
}

function fillPath(path: string, parameters: PathParameters): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => {
    const text = String(parameters[name]);
    // These mean folders, and URL parsers resolve them in every encoding.
    if (text === '.' || text === '..') throw new UnusableIdError(`${JSON.stringify(text)} cannot be an id`);
    return encodeURIComponent(text);
  });
}

/** Repeats the name for each item of a list, and omits undefined values. */
function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) parameters.append(name, String(one));
    }
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
