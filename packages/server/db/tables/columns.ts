/** Kinds of columns that many tables have. */
import type { ColumnType } from 'kysely';

/** ISO 8601 in UTC with microseconds, as pool.ts reads it: a JavaScript Date would lose the last three digits. */
export type Moment = string;
export type Timestamp = ColumnType<Moment, Date | string | undefined, Date | string>;
export type NullableTimestamp = ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
/** Present in every row, filled in by the tenant scope: never written by hand. */
export type TenantId = ColumnType<string, string | undefined, never>;
export type Json<T> = ColumnType<T, string | undefined, string>;
