/** Types of columns that many tables have. */
import type { ColumnType } from 'kysely';

/** ISO 8601 in UTC with microseconds, as moment.ts returns it. A JavaScript Date would lose the last three digits. */
export type Moment = string;
export type Timestamp = ColumnType<Moment, Date | string | undefined, Date | string>;
/** Without a default: each insert gives it. */
export type GivenTimestamp = ColumnType<Moment, Date | string, Date | string>;
export type NullableTimestamp = ColumnType<Moment | null, Date | string | null | undefined, Date | string | null>;
/** Present in every row. The tenant scope sets it, and no other code does. */
export type TenantId = ColumnType<string, string | undefined, never>;
export type Json<T> = ColumnType<T, string | undefined, string>;
export type GivenJson<T> = ColumnType<T, string, string>;
