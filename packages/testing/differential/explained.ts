/** Where a generated DAG ends otherwise than on Airflow on purpose: the one table. docs/coming-from-airflow.md tells users. */
import type { Difference } from './outcome.ts';

type Row = { what: RegExp; airflow?: RegExp; here?: RegExp; why: string };

const EXPLAINED: readonly Row[] = [
  {
    what: / xcom /,
    airflow: /"decimal\.Decimal","__version__":1,"__data__":-?[\d.]/,
    here: /"decimal\.Decimal","__version__":1,"__data__":"/,
    why: 'Airflow stores a Decimal as a float, and here it keeps its digits',
  },
  {
    what: / (?:on_failure_callback|by_default|bad)$/,
    airflow: /"exception":"NoneType"/,
    here: /"exception":"(?!NoneType)/,
    why: '`DAG.test()` calls failure callbacks without the exception',
  },
  {
    what: / rendered /,
    airflow: /LazyXComSequence\(<unevaluated length>\)/,
    here: /\(values of mapped instances\)/,
    why: 'the text that stands for the values of mapped tasks in rendered fields is another one',
  },
];

export function explain(difference: Difference): Difference {
  const row = EXPLAINED.find(
    ({ what, airflow = /^/, here = /^/ }) =>
      what.test(difference.where) && airflow.test(difference.airflow) && here.test(difference.here),
  );
  return row ? { ...difference, why: row.why } : difference;
}
