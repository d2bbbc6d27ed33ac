type Declared = Record<string, { content?: object; type?: unknown }>;

export type GivenAnswer = {
  /** `GET /api/v2/dags/:dag_id` */
  operation: string;
  status: number;
  contentType: string | undefined;
  /** As the route has them: a schema, or what is there for which content type. */
  declared: object | undefined;
};

/** What of an answer the API document does not have; undefined when it has all. */
export function undeclaredAnswer({ operation, status, contentType, declared }: GivenAnswer): string | undefined {
  const response = (declared as Declared | undefined)?.[String(status)];
  if (response === undefined) return `${operation} answered ${status}, which it does not declare`;
  if (response.content === undefined && response.type === 'null') return undefined; // nothing, of no type
  const type = (contentType ?? '').split(';', 1)[0] ?? '';
  const types = Object.keys(response.content ?? { 'application/json': {} });
  if (types.includes(type)) return undefined;
  return `${operation} answered ${status} as "${type}", and declares ${types.map((each) => `"${each}"`).join(', ')}`;
}
