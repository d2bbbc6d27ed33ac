// The definition of one configuration key. The table in keys.ts contains only these records. Parsing, the JSON Schema,
// the reference page and `svc config` all read them, so they cannot differ.

/** `both`: lite and pro. `pro (orchestrator)`: needs the Kubernetes executor. `dev-only`: never for production. */
export type Edition = 'both' | 'pro' | 'pro (orchestrator)' | 'dev-only';

interface CommonDefinition {
  readonly edition: Edition;
  /** One line for the reference page and the schema. */
  readonly doc: string;
  /** True for a key in addition to the base set. The reference page marks it. */
  readonly extension?: true;
  /** The default in words, if the bare value would mislead readers of the reference page. */
  readonly defaultDoc?: string;
}

export interface StringDefinition extends CommonDefinition {
  readonly type: 'string';
  /** If the default is empty, an empty value is allowed and means "none". Otherwise an empty value is refused. */
  readonly default: string;
  /** Checked only for non-empty values. `allowed` completes the sentence "allowed: …". */
  readonly pattern?: RegExp;
  readonly allowed?: string;
  /** The value is a URL that may contain a password. Everything that prints it hides the password. */
  readonly carriesPassword?: true;
}

/** Masked in every output. */
export interface SecretDefinition extends CommonDefinition {
  readonly type: 'secret';
  readonly default: '';
  /** Warns if the value is in a configuration file, because it belongs in the environment. */
  readonly keepOutOfFile?: true;
}

/**
 * A JSON object that is passed on unchanged. It is masked like a secret, because providers accept credentials in it.
 */
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

/** Written as `24h`, `1h30m` or `500ms`; a plain number is seconds. The parsed value is in milliseconds. */
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
  /** The meaning of an empty value. Without it, an empty value is an error. */
  readonly emptyMeans?: string;
  /** An unknown value becomes this one with a warning instead of an error. */
  readonly fallback?: string;
}

/** An address to listen on or to connect to: `host:port`, `:port` or `[::1]:port`. */
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
  /** Lists come from the file or from flags. This list may also come from the environment, separated by commas. */
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
