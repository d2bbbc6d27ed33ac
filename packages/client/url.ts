/** From an operation's path and parameters to a URL. */

type Value = string | number | boolean;
export type PathParameters = Readonly<Record<string, Value>>;
export type Query = Readonly<Record<string, Value | readonly Value[] | null | undefined>>;

/** An id with a meaning of its own in a path: the call would reach another resource than the one that is named. */
export class UnusableIdError extends Error {}

export function urlOf(input: {
  /** Origin, and path if there is one, without a closing slash. */
  server: string;
  /** `/api/v2/dags/{dag_id}` */
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
    // They mean folders, and no encoding keeps a URL parser from resolving them.
    if (text === '.' || text === '..') throw new UnusableIdError(`${JSON.stringify(text)} cannot be an id`);
    return encodeURIComponent(text);
  });
}

/** A list is its name repeated; what is undefined is left out. */
function queryString(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) parameters.append(name, String(one));
    }
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
