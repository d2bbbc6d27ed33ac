/**
 * Makes what `npm run test:services` needs: Python environments, examples, Keycloak and Vault. It takes minutes on an empty
 * machine, and a second when everything is in the cache.
 */
import { CORE_EXAMPLES, STANDARD_EXAMPLES, exampleRepository, pythonForExamples } from '../airflow/example-corpus.ts';
import { installAirflow } from '../airflow/airflow-processes.ts';
import { dbtPython } from '../dbt/environment.ts';
import { providerExamples } from '../provider-examples/repository.ts';
import { openlineageEnvironment, providersEnvironment } from '../providers/environment.ts';
import { schemathesisEnvironment } from '../schemathesis/environment.ts';
import { prepareKeycloak } from './keycloak.ts';
import { vaultProgram } from './vault.ts';

/** Some of it is downloaded and some of it compiled: with three at once, two cores and the network are busy. */
const AT_ONCE = 3;

type Preparation = { readonly name: string; readonly make: () => Promise<unknown> };

/** The longest first. */
const PREPARATIONS: readonly Preparation[] = [
  { name: 'Vault', make: vaultProgram },
  { name: 'the providers', make: providersEnvironment },
  { name: 'Airflow', make: installAirflow },
  { name: 'Keycloak', make: prepareKeycloak },
  { name: 'dbt', make: dbtPython },
  { name: 'OpenLineage', make: openlineageEnvironment },
  { name: 'Schemathesis', make: schemathesisEnvironment },
  { name: "Airflow's examples", make: prepareExamples },
  { name: 'the examples of providers', make: async () => providerExamples() },
];

async function prepareExamples(): Promise<void> {
  const python = await pythonForExamples();
  for (const name of [CORE_EXAMPLES, STANDARD_EXAMPLES]) await exampleRepository({ python, name });
}

/** A preparation that fails is only reported: the test files that need it try again, and the others run. */
export async function prepareServices(say: (message: string) => void): Promise<void> {
  const waiting = [...PREPARATIONS];
  const makeEach = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { name, make } = next;
      const started = performance.now();
      const failure = await make().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const seconds = Math.round((performance.now() - started) / 1_000);
      if (failure !== undefined) say(`${name} could not be prepared: ${failure}`);
      else if (seconds > 5) say(`prepared ${name} in ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeEach));
}
