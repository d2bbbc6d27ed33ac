import { Compile } from 'typebox/compile';
import type { Static, TSchema } from 'typebox';

/** Compiles the schema when it is first used, because each schema costs every start of a control plane some milliseconds. */
export function compileWhenUsed<T extends TSchema>(schema: T) {
  let validator: ReturnType<typeof Compile<T>> | undefined;
  const compiled = () => (validator ??= Compile(schema));
  return {
    Check: (value: unknown): value is Static<T> => compiled().Check(value),
    Errors: (value: unknown) => compiled().Errors(value),
  };
}
