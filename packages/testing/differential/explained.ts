/** Where a generated DAG ends otherwise than on Airflow on purpose: the one table. docs/coming-from-airflow.md tells users. */
import type { Difference } from './outcome.ts';

type Row = { what: RegExp; airflow?: RegExp; here?: RegExp; why: string };

const ONE_VALUE =
  'the output of a mapped group of which one instance has a value is a list here, and that value on Airflow';

const EXPLAINED: readonly Row[] = [
  {
    what: / xcom /,
    airflow: /"decimal\.Decimal","__version__":1,"__data__":-?[\d.]/,
    here: /"decimal\.Decimal","__version__":1,"__data__":"/,
    why: 'Airflow stores a Decimal as a float, and here it keeps its digits',
  },
  {
    what: / (?:on_failure_callback|on_skipped_callback|by_default|bad)$/,
    airflow: /"exception":"NoneType"/,
    here: /"exception":"(?!NoneType)/,
    why: '`DAG.test()` calls callbacks without the exception',
  },
  {
    what: / rendered /,
    airflow: /LazyXComSequence\(<unevaluated length>\)/,
    here: /\(values of mapped instances\)/,
    why: 'the text that stands for the values of mapped tasks in rendered fields is another one',
  },
  {
    what: / received$/,
    here: /\{"sequence":\[[^,\]]*\]\}/,
    why: ONE_VALUE,
  },
  {
    what: / rendered /,
    here: /\(values of mapped instances\)/,
    why: ONE_VALUE,
  },
  {
    what: / tries$/,
    airflow: /^1$/,
    here: /^0$/,
    why: '`DAG.test()` runs tasks that have nothing to execute, and schedulers end them without a try',
  },
];

export function explain(difference: Difference): Difference {
  const row = EXPLAINED.find(
    ({ what, airflow = /^/, here = /^/ }) =>
      what.test(difference.where) && airflow.test(difference.airflow) && here.test(difference.here),
  );
  return row ? { ...difference, why: row.why } : difference;
}
