/** The provider cncf.kubernetes with what it needs. Made before the cluster is up, from inside which no index is reached. */
import { join } from 'node:path';
import { virtualEnvironment } from '../virtual-environment.ts';

const REQUIREMENTS = join(import.meta.dirname, 'pod-operator.txt');

/** The interpreter of the environment, which is built first when it is missing or made for other requirements. */
export const podOperatorEnvironment = (): Promise<string> =>
  virtualEnvironment({ name: 'pod-operator', requirements: [REQUIREMENTS] });
