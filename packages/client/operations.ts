/** The input and answer of each API operation, derived from the generated types. */
import type { paths } from './generated/api.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths with this method, as in docs/openapi.json: `/api/v2/dags/{dag_id}`. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends PathOf<M>> = paths[P][M];

type ParametersIn<Place extends 'path' | 'query', O> = O extends { parameters: infer All }
  ? All extends { [K in Place]?: infer Some }
    ? NonNullable<Some>
    : never
  : never;

/** Accepts read-only lists, and undefined for optional fields. */
type Given<T> = {
  readonly [K in keyof T]: ReadonlyList<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never);
};
type ReadonlyList<T> = T extends readonly (infer Each)[] ? readonly Each[] : T;

type Has<Key extends string, T> = [T] extends [never]
  ? unknown
  : Record<never, never> extends T
    ? { readonly [K in Key]?: T }
    : { readonly [K in Key]: T };

type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer Body } } } ? Body : never;

/** Everything that a call needs in addition to its path. Parts that the operation does not have are refused. */
export type Call<M extends Method, P extends PathOf<M>> = Has<'path', ParametersIn<'path', Operation<M, P>>> &
  Has<'query', Given<ParametersIn<'query', Operation<M, P>>>> &
  Has<'body', Given<BodyOf<Operation<M, P>>>> & { readonly signal?: AbortSignal | undefined };

/** An operation without inputs needs no second argument. */
export type CallArguments<M extends Method, P extends PathOf<M>> =
  Record<never, never> extends Call<M, P> ? [call?: Call<M, P>] : [call: Call<M, P>];

type Content<R> = R extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The JSON answer of an operation, or undefined if it has no body. */
export type Answer<M extends Method, P extends PathOf<M>> =
  Operation<M, P> extends { responses: infer R } ? Content<R[keyof R & (200 | 201 | 202 | 204)]> : never;

/** The names of arrays in an answer. A list has one. */
export type ListName<P extends PathOf<'get'>> = {
  [K in keyof Answer<'get', P>]: Answer<'get', P>[K] extends readonly unknown[] ? K : never;
}[keyof Answer<'get', P>];

/** The type of an entry of that list. */
export type Entry<P extends PathOf<'get'>, N extends ListName<P>> = Answer<'get', P>[N] extends readonly (infer Each)[]
  ? Each
  : never;
