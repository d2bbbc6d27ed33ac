// What one configuration key is. The table in keys.ts is made of these and of nothing else; parsing, the JSON Schema,
// the reference page and `svc config` all read the same record, so none of them can disagree with another.

/** `both`: lite and pro. `pro (orchestrator)`: needs the Kubernetes executor. `dev-only`: never for production. */
export type Edition = 'both' | 'pro' | 'pro (orchestrator)' | 'dev-only';

interface CommonDefinition {
  readonly edition: Edition;
  /** One line for the reference page and the schema. */
  readonly doc: string;
  /** The key goes beyond the base set of keys; the reference page marks it. */
  readonly extension?: true;
  /** How a default reads on the reference page, when the bare value would mislead. */
  readonly defaultDoc?: string;
}

export interface StringDefinition extends CommonDefinition {
  readonly type: 'string';
  /** An empty default says that empty is a meaning of its own ("none"); any other default forbids an empty value. */
  readonly default: string;
  /** Checked on non-empty values only. `allowed` completes the sentence "allowed: …". */
  readonly pattern?: RegExp;
  readonly allowed?: string;
  /** The value is a URL that may carry a password; everything that prints it hides that part. */
  readonly carriesPassword?: true;
}

/** Masked in every output. */
export interface SecretDefinition extends CommonDefinition {
  readonly type: 'secret';
  readonly default: '';
  /** Warn when the value was found in a configuration file: it belongs in the environment. */
  readonly keepOutOfFile?: true;
}

/** A JSON object handed on verbatim. Masked like a secret, because providers take credentials in there. */
export interface JsonDefinition extends CommonDefinition {
  readonly type: 'json';
  readonly default: '';
}

export interface IntDefinition extends CommonDefinition {
  readonly type: 'int';
  readonly default: number;
  readonly min?: number;
  readonly max?: number;
}

export interface BoolDefinition extends CommonDefinition {
  readonly type: 'bool';
  readonly default: boolean;
}

/** Written `24h`, `1h30m`, `500ms`; a plain number is seconds. The parsed value is in milliseconds. */
export interface DurationDefinition extends CommonDefinition {
  readonly type: 'duration';
  readonly default: string;
  /** Bounds in milliseconds. Without a minimum, zero and negative values are accepted and mean "off". */
  readonly min?: number;
  readonly max?: number;
}

export interface EnumDefinition extends CommonDefinition {
  readonly type: 'enum';
  readonly values: readonly string[];
  readonly default: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** What an empty value stands for; without it an empty value is an error. */
  readonly emptyMeans?: string;
  /** An unknown value becomes this one with a warning instead of an error. */
  readonly fallback?: string;
}

/** A listening or dialling address: `host:port`, `:port` or `[::1]:port`. */
export interface AddressDefinition extends CommonDefinition {
  readonly type: 'address';
  readonly default: string;
  readonly allowEmpty?: true;
}

export interface ListDefinition extends CommonDefinition {
  readonly type: 'list';
  readonly default: readonly string[];
  readonly pattern?: RegExp;
  readonly allowed?: string;
  /** Lists come from the file or from flags; this one may also come comma-separated from the environment. */
  readonly fromEnvironment?: true;
}

export interface MapDefinition extends CommonDefinition {
  readonly type: 'map';
  readonly default: Readonly<Record<string, string>>;
}

export type KeyDefinition =
  | StringDefinition
  | SecretDefinition
  | JsonDefinition
  | IntDefinition
  | BoolDefinition
  | DurationDefinition
  | EnumDefinition
  | AddressDefinition
  | ListDefinition
  | MapDefinition;

/** The TypeScript type of a key's parsed value. */
export type ValueOf<D extends KeyDefinition> = D extends IntDefinition | DurationDefinition
  ? number
  : D extends BoolDefinition
    ? boolean
    : D extends ListDefinition
      ? readonly string[]
      : D extends MapDefinition
        ? Readonly<Record<string, string>>
        : D extends EnumDefinition
          ? D['values'][number]
          : string;

/** Any parsed value, for code that walks over all keys. */
export type ConfigValue = number | boolean | string | readonly string[] | Readonly<Record<string, string>>;
