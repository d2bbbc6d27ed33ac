/** Where things are in the cluster's own network. One cluster has it for itself, so the numbers are fixed. */

/** Of the node, and of the machine as pods see it. */
export const NODE_ADDRESS = '10.244.0.1';
export const POD_SUBNET = '10.244.0.0/24';
/** The first address that a pod may get. */
export const FIRST_POD_ADDRESS = '10.244.0.10';
export const SERVICE_SUBNET = '10.96.0.0/16';
/** Of the API server, as pods see it. */
export const API_SERVICE_ADDRESS = '10.96.0.1';
export const API_SERVER = `https://${NODE_ADDRESS}:6443`;
export const REGISTRY = `${NODE_ADDRESS}:5000`;
export const NODE_NAME = 'node1';
