/** Set-up of every tier: property tests start from the run's seed, which a failure repeats with the path to it. */
import fc from 'fast-check';
import { SEED } from '../seed.ts';

fc.configureGlobal({ seed: SEED });
