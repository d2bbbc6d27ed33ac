/** What the compiler process answers about a file. */
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import type { StatedSettings } from '@svc/spec/project/apply.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { ValueRead } from '@svc/spec/values-read.ts';
import type { NotedDifference } from './differences/table.ts';

export interface CompileError {
  readonly type: string;
  readonly message: string;
  readonly path: string;
  readonly line: number | null;
  /** What the author can do about it; may be empty. */
  readonly instead: string;
  readonly traceback: string;
}

export interface CompiledDag {
  readonly dag_id: string;
  /** Of the canonical bytes of `spec`. */
  readonly sha256: string;
  readonly spec: CompiledSpec;
  /** What the DAG file itself says of its tasks, where svc.yaml may speak too. */
  readonly stated: StatedSettings;
}

interface AnswerBase {
  readonly duration_ms: number;
  /** What the file printed while it was loaded, cut to a limit. */
  readonly output: string;
  readonly output_truncated: boolean;
  readonly warnings: readonly string[];
  /** Absent when the file did not load. */
  readonly differences?: readonly NotedDifference[];
  readonly dags: readonly CompiledDag[];
  /** Provider packages of the file's environment; left out where they are unknown (compiler-pool.ts). */
  readonly providers?: readonly ReportedProvider[] | undefined;
  /** Variables and connections that the file has read, also if it then failed. Absent if nothing answers it. */
  readonly reads?: readonly ValueRead[] | undefined;
  /** Packages that the file's environment was made without (compiler-pool.ts). */
  readonly leftOut?: readonly { readonly entry: string; readonly why: string }[] | undefined;
}

export type CompileAnswer =
  | (AnswerBase & { readonly ok: true })
  | (AnswerBase & { readonly ok: false; readonly error: CompileError });
