/**
 * Which variables and connections an attempt may read (`auth.secret_scoping`):
 *
 *   permissive   all of its tenant, with a warning for those that the DAG does not declare
 *   enforce      only those that its DAG declares
 *   off          all of its tenant
 *
 * In every mode, declared secrets come with the start, and others are requested one by one. The compiler finds the
 * declarations of a DAG in its arguments, templates and source. The operator chooses the mode.
 */
import type { AttemptVersion } from './versions.ts';

export type SecretScoping = 'permissive' | 'enforce' | 'off';
export type SecretKind = 'connection' | 'variable';

export type Verdict = 'allowed' | 'allowed_with_warning' | 'denied';

type Declared = AttemptVersion['secrets'];
type SecretName = { kind: SecretKind; name: string };

export const declares = (declared: Declared, { kind, name }: SecretName): boolean =>
  (kind === 'connection' ? declared.connections : declared.variables).has(name);

/** A DAG that declares nothing gets no warnings. */
const declaresNothing = ({ connections, variables }: Declared): boolean =>
  connections.size === 0 && variables.size === 0;

export function judgeSecret(mode: SecretScoping, declared: Declared, secret: SecretName): Verdict {
  if (mode === 'off' || declares(declared, secret)) return 'allowed';
  if (mode === 'enforce') return 'denied';
  return declaresNothing(declared) ? 'allowed' : 'allowed_with_warning';
}
