import { MASK } from '@svc/spec/masking/rules.ts';

export interface MaskDeepOptions {
  readonly value: unknown;
  /** Applied to every string, keys included. */
  readonly text: (value: string) => string;
  /** Applied to stack traces instead of `text`, for writers that keep their line breaks. */
  readonly stack?: (value: string) => string;
  readonly isSensitive: (name: string) => boolean;
  readonly maxDepth?: number;
  readonly maxEntries?: number;
}

/**
 * Returns a plain JSON-ready copy of any value with its secrets masked. It never throws and never follows a cycle,
 * because it runs between an error and the line that reports it. Everything that `JSON.stringify` would do (call
 * `toJSON`, drop functions) happens here first, so that no new text appears after masking.
 */
export function maskDeep(options: MaskDeepOptions): unknown {
  return new DeepCopy(options).walk(options.value, 0);
}

class DeepCopy {
  readonly #options: MaskDeepOptions;
  readonly #maxDepth: number;
  readonly #maxEntries: number;
  /** The containers around the current value. The same object twice side by side is not a cycle. */
  readonly #open = new Set<object>();

  constructor(options: MaskDeepOptions) {
    this.#options = options;
    this.#maxDepth = options.maxDepth ?? 32;
    this.#maxEntries = options.maxEntries ?? Number.POSITIVE_INFINITY;
  }

  walk(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.#options.text(value);
      case 'bigint':
        return this.#options.text(value.toString());
      case 'object':
        return value === null ? null : this.#object(value, depth);
      case 'function':
      case 'symbol':
        return undefined;
      default:
        return value;
    }
  }

  #object(value: object, depth: number): unknown {
    if (this.#open.has(value)) return '[circular]';
    if (depth >= this.#maxDepth) return '[too deep]';
    // Bytes would otherwise be printed as numbers, which no text rule recognises.
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    this.#open.add(value);
    try {
      return this.#copy(value, depth + 1);
    } catch {
      return '[unreadable]';
    } finally {
      this.#open.delete(value);
    }
  }

  #copy(value: object, depth: number): unknown {
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof Map) return this.#entries(value.entries(), depth);
    if (value instanceof Set || Array.isArray(value)) return this.#list([...value], depth);
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.walk(value.toJSON(), depth);
    return this.#entries(Object.entries(value), depth, this.#namesASecret(value));
  }

  #list(list: unknown[], depth: number): unknown[] {
    const out = list.slice(0, this.#maxEntries).map((item) => this.walk(item, depth) ?? null);
    if (list.length > this.#maxEntries) out.push(`[${list.length - this.#maxEntries} more]`);
    return out;
  }

  #entries(entries: Iterable<[unknown, unknown]>, depth: number, valueIsSecret = false): Record<string, unknown> {
    const { text, isSensitive } = this.#options;
    const out: Record<string, unknown> = {};
    let count = 0;
    for (const [rawKey, value] of entries) {
      count += 1;
      if (count > this.#maxEntries) {
        out['…'] = '[more]';
        break;
      }
      const key = String(rawKey);
      const isSecret = isSensitive(key) || (valueIsSecret && key === 'value');
      // The property is defined instead of assigned, because assigning `__proto__` would set the prototype.
      Object.defineProperty(out, text(key), {
        value: isSecret ? maskWhole(value) : this.walk(value, depth),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return out;
  }

  #error(error: Error, depth: number): Record<string, unknown> {
    const { text, stack = text } = this.#options;
    const { message: _message, stack: _stack, cause: _cause, ...own } = { ...error };
    return {
      type: text(error.constructor.name || error.name),
      message: text(error.message),
      ...(typeof error.stack === 'string' ? { stack: stack(error.stack) } : {}),
      ...this.#entries(Object.entries(own), depth),
      ...(error.cause === undefined ? {} : { cause: this.walk(error.cause, depth) }),
      ...(error instanceof AggregateError ? { errors: this.walk(error.errors, depth) } : {}),
    };
  }

  /** True for `{ name: 'DB_PASSWORD', value: '...' }`, the form of environment lists and variables. */
  #namesASecret(value: object): boolean {
    const name = 'name' in value ? value.name : 'key' in value ? value.key : undefined;
    return typeof name === 'string' && this.#options.isSensitive(name);
  }
}

/** Masks a value but shows whether it is set, because that is useful and reveals nothing. */
function maskWhole(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'boolean' ? value : MASK;
}
