/** The images of Airflow and Astronomer: how a reference to one looks, and what they set. */

const MAX_IMAGE_NAME = 512;

/** The reference itself; undefined for another image. A company's own base counts when its name says so. */
export function airflowBase(from: string): string | undefined {
  if (from.length > MAX_IMAGE_NAME) return undefined;
  const isOne = KNOWN.test(from) || isAstronomers(from) || /(?:^|[/._-])airflow(?:[._-][\w.-]*)?(?:[:@]|$)/.test(from);
  return isOne ? from : undefined;
}

const KNOWN = /(?:^|\/)(?:apache\/airflow|astro-runtime|ap-airflow)\b/;

const isAstronomers = (base: string): boolean =>
  /(?:^|\/)(?:astro-runtime|ap-airflow)\b/.test(base) ||
  /(?:astronomer|astrocrpublic)[^\s]*\/[\w-]*(?:runtime|airflow)/.test(base);

/** Where the image has what a repository holds. */
export const homeOf = (base: string | undefined): string =>
  base !== undefined && isAstronomers(base) ? '/usr/local/airflow' : '/opt/airflow';

/** Astronomer's runtime counted by itself up to 13 (Airflow 2), and by Airflow since 3. */
export function majorOf(base: string): number | undefined {
  if (/astro-runtime/.test(base)) return 2;
  // The tag of a company's own image counts its own versions.
  if (!KNOWN.test(base) && !isAstronomers(base)) return undefined;
  const major = /:(?:slim-)?(\d+)(?:\.\d+)?/.exec(base)?.[1];
  return major === undefined ? undefined : Number(major);
}

/** The version of Airflow in an official image. */
function airflowVersionOf(base: string): string | undefined {
  return !/(?:^|\/)apache\/airflow\b/.test(base) ? undefined : /:(?:slim-)?(\d+\.\d+\.\d+)/.exec(base)?.[1];
}

/** Variables that an image sets and that Dockerfiles use. */
export function variablesOf(base: string | undefined): Record<string, string> {
  const home = { AIRFLOW_HOME: homeOf(base), HOME: '/home/airflow', AIRFLOW_USER_HOME_DIR: '/home/airflow' };
  if (base === undefined) return {};
  const version = airflowVersionOf(base);
  const python = /-python-?(\d+\.\d+)/.exec(base)?.[1];
  return {
    ...home,
    ...(version !== undefined && { AIRFLOW_VERSION: version }),
    ...(python !== undefined && { PYTHON_MAJOR_MINOR_VERSION: python }),
  };
}
