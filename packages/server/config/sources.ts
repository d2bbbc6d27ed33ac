import type { ConfigProblem } from './config-error.ts';
import type { ConfigKey } from './keys.ts';
import type { RawValue } from './parse-value.ts';

export type Source = 'default' | 'file' | 'env' | 'flag';

/** One key as one source sets it, before parsing. */
export interface Setting {
  readonly key: ConfigKey;
  readonly raw: RawValue;
  readonly source: Exclude<Source, 'default'>;
  /** The exact place: `server.yaml:3:5`, `SVC_SERVER_ROLE` or `--server.role`. */
  readonly origin: string;
}

/** What reading one source returns. Readers never throw, so that all problems are reported together. */
export interface SourceReading {
  readonly settings: readonly Setting[];
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly string[];
}
