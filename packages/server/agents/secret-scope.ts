/**
 * Which variables and connections an attempt may have (`auth.secret_scoping`):
 *
 *   permissive   all of its tenant; what lies outside the DAG's declaration is warned about
 *   enforce      those its DAG declares, and no others
 *   off          all of its tenant
 *
 * Those that its DAG declares come with the start in every mode; the others are asked for one by one. The compiler finds what
 * a DAG declares in its arguments, templates and source. The mode is the operator's.
 */
import type { AttemptVersion } from './versions.ts';

export type SecretScoping = 'permissive' | 'enforce' | 'off';
export type SecretKind = 'connection' | 'variable';

export type Verdict = 'allowed' | 'allowed_with_warning' | 'denied';

type Declared = AttemptVersion['secrets'];
type SecretName = { kind: SecretKind; name: string };

export const declares = (declared: Declared, { kind, name }: SecretName): boolean =>
  (kind === 'connection' ? declared.connections : declared.variables).has(name);

/** A DAG that declares nothing is not narrower than anything: nobody is warned about it. */
const declaresNothing = ({ connections, variables }: Declared): boolean =>
  connections.size === 0 && variables.size === 0;

export function judgeSecret(mode: SecretScoping, declared: Declared, secret: SecretName): Verdict {
  if (mode === 'off' || declares(declared, secret)) return 'allowed';
  if (mode === 'enforce') return 'denied';
  return declaresNothing(declared) ? 'allowed' : 'allowed_with_warning';
}
