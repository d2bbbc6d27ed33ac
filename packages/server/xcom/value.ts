/** Cross-task values: JSON text, stored as the task wrote it. */

/** Tells the author of the task why a value cannot be stored. Returns undefined if it can. */
export function problemWith(key: string, json: string, maxBytes: number): string | undefined {
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) {
    return (
      `the value of "${shown(key)}" has ${bytes} bytes as JSON, more than the ${maxBytes} that xcom.max_bytes allows: ` +
      'store it elsewhere and pass its place on, or raise the limit'
    );
  }
  if (!json.isWellFormed())
    return `the value of "${shown(key)}" contains half of a surrogate pair: escape it as \\uXXXX`;
  return isJson(json) ? undefined : `the value of "${shown(key)}" is not JSON`;
}

const shown = (key: string): string => key.slice(0, 100);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the number of items in a list or dict, over which a mapped task is expanded. Airflow writes a tuple as
 * `{"__classname__": "builtins.tuple", "__data__": […]}`, which counts as a list. Other objects of that form are one
 * value. Returns null for a value that cannot be expanded.
 */
export function itemCount(json: string): number | null {
  const first = json.trimStart().charAt(0);
  if (first !== '[' && first !== '{') return null;
  const value = JSON.parse(json) as unknown[] | Record<string, unknown>;
  if (Array.isArray(value)) return value.length;
  if (!Object.hasOwn(value, '__classname__')) return Object.keys(value).length;
  const data = value['__data__'];
  return value['__classname__'] === 'builtins.tuple' && Array.isArray(data) ? data.length : null;
}
