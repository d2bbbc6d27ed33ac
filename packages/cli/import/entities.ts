/** What can be imported: connections, variables and pools, each with its file. */
import type { ConnectionBody } from '@svc/client/wire-types.ts';
import type { VariableEntry } from '../files/variable-file.ts';

export type PoolEntry = { name: string; slots: number; description?: string; include_deferred?: boolean };

export const KINDS = ['connections', 'variables', 'pools'] as const;
export type Kind = (typeof KINDS)[number];

export type Found = { readonly file: string } & (
  | { readonly kind: 'connections'; readonly name: string; readonly body: ConnectionBody }
  | { readonly kind: 'variables'; readonly name: string; readonly body: VariableEntry }
  | { readonly kind: 'pools'; readonly name: string; readonly body: PoolEntry }
);

/** If several files contain the same name, the last one counts. */
export const lastOfEach = (found: readonly Found[]): Found[] => [
  ...new Map(found.map((entity) => [`${entity.kind} ${entity.name}`, entity])).values(),
];
