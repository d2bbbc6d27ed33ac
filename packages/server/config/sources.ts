import type { ConfigProblem } from './config-error.ts';
import type { ConfigKey } from './keys.ts';
import type { RawValue } from './parse-value.ts';

export type Source = 'default' | 'file' | 'env' | 'flag';

/** One key as one source gives it, before parsing. */
export interface Setting {
  readonly key: ConfigKey;
  readonly raw: RawValue;
  readonly source: Exclude<Source, 'default'>;
  /** Where exactly: `server.yaml:3:5`, `SVC_SERVER_ROLE` or `--server.role`. */
  readonly origin: string;
}

/** What reading one source yields. Readers never throw: their problems are reported together with all others. */
export interface SourceReading {
  readonly settings: readonly Setting[];
  readonly problems: readonly ConfigProblem[];
  readonly warnings: readonly string[];
}
