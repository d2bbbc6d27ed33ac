/**
 * Packages that Airflow brings and that provider packages use without naming them: all need packaging, common.sql deprecated,
 * cncf.kubernetes sqlalchemy and tenacity, amazon python-slugify, openlineage psutil and setproctitle. Installed with every provider, as Airflow is not.
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

/** What to install for the dependencies. A list with hashes is the whole of it: it names them itself. */
export function withProviderCompanions(dependencies: readonly string[]): readonly string[] {
  const isWhole = dependencies.some((dependency) => dependency.includes('--hash='));
  const hasProvider = dependencies.some((dependency) => PROVIDER.test(dependency.trim()));
  return hasProvider && !isWhole ? [...dependencies, ...COMPANIONS] : dependencies;
}
