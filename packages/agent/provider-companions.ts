/**
 * Packages that Airflow installs and that provider packages use without declaring them: all use packaging, common.sql
 * deprecated, cncf.kubernetes sqlalchemy and tenacity, amazon python-slugify, openlineage psutil and setproctitle. They
 * are installed with every provider, because Airflow is not installed.
 */
const COMPANIONS = [
  'packaging',
  'deprecated',
  'tenacity',
  'python-slugify',
  'attrs',
  'tabulate',
  'PyYAML',
  'sqlalchemy',
  'psutil',
  'setproctitle',
];
const PROVIDER = /^apache[-_.]+airflow[-_.]+providers[-_.]/i;

/** Returns the packages to install for the dependencies. A list with hashes is complete: it contains the companions. */
export function withProviderCompanions(dependencies: readonly string[]): readonly string[] {
  const isWhole = dependencies.some((dependency) => dependency.includes('--hash='));
  const hasProvider = dependencies.some((dependency) => PROVIDER.test(dependency.trim()));
  return hasProvider && !isWhole ? [...dependencies, ...COMPANIONS] : dependencies;
}
