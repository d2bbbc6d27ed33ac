/**
 * The cluster that `npm run test:kubernetes` has brought up, or the one KUBECONFIG names. What tests have to know of it is
 * in environment variables, so that both look alike:
 *
 *   KUBECONFIG          how to reach its API
 *   SVC_TEST_REGISTRY   a registry over plain HTTP that we may push to and nodes pull from; it has our images
 *   SVC_TEST_HOST       the address under which pods reach what tests listen on
 *   SVC_TEST_CLUSTER    the state folder of a cluster of our own, whose parts tests may break; not set for another
 */
import {
  AuthenticationV1Api,
  CoreV1Api,
  KubeConfig,
  RbacAuthorizationV1Api,
  SchedulingV1Api,
  StorageV1Api,
} from '@kubernetes/client-node';

/** Something is missing when the test was not started by `npm run test:kubernetes`. */
function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run this test with npm run test:kubernetes -- <file>`);
  }
  return value;
}

function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(variable('KUBECONFIG'));
  return config;
}

export const kubeConfig = loadKubeConfig();
export const core = kubeConfig.makeApiClient(CoreV1Api);
export const authentication = kubeConfig.makeApiClient(AuthenticationV1Api);
export const rbac = kubeConfig.makeApiClient(RbacAuthorizationV1Api);
export const scheduling = kubeConfig.makeApiClient(SchedulingV1Api);
export const storage = kubeConfig.makeApiClient(StorageV1Api);

/** The path of the kubeconfig, for programs. */
export const KUBECONFIG = variable('KUBECONFIG');
export const REGISTRY = variable('SVC_TEST_REGISTRY');
/** Listen on it, or on all addresses, for what pods are to reach. */
export const HOST_ADDRESS = variable('SVC_TEST_HOST');
export const CLUSTER_STATE = process.env['SVC_TEST_CLUSTER'];
