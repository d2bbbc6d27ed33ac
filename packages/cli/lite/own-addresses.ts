/**
 * Listeners that only programs use: metrics and agents. Unless the user has chosen a port, any free one will do. A port
 * is tested before it is used, so two instances that start at once may find the same one. The later instance then tries
 * again.
 */
import { messageOf } from '../cli-error.ts';
import type { LiteConfig } from './config.ts';
import type { DataDirectory } from './data-directory.ts';
import { LITE_HOST } from './defaults.ts';
import type { LiteDefaults } from './defaults.ts';
import { portOfLastTime, portOrAnother } from './ports.ts';

const METRICS_PORT = 9090;
const GRPC_PORT = 9091;
const ATTEMPTS = 5;

const KEYS = ['server.metrics_addr', 'server.grpc_addr'] as const;

export async function ownAddresses(config: LiteConfig, directory: DataDirectory): Promise<LiteDefaults> {
  const ports = {
    'server.metrics_addr': () => portOrAnother(LITE_HOST, METRICS_PORT),
    'server.grpc_addr': () => portOfLastTime({ file: directory.agentPort, host: LITE_HOST, otherwise: GRPC_PORT }),
  };
  const addresses: LiteDefaults = {};
  for (const key of KEYS) {
    if (!config.chosen(key)) addresses[key] = `${LITE_HOST}:${await ports[key]()}`;
  }
  return addresses;
}

/** Starts listeners on `defaults`, and tries other ports while the chosen ones are in use. */
export async function onOwnAddresses<T>(input: {
  config: LiteConfig;
  directory: DataDirectory;
  defaults: LiteDefaults;
  start: () => Promise<T>;
}): Promise<T> {
  const { config, directory, defaults, start } = input;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      const isOurs = KEYS.some((key) => messageOf(error).includes(`${key}:`) && !config.chosen(key));
      if (!isOurs || attempt === ATTEMPTS) throw error;
      Object.assign(defaults, await ownAddresses(config, directory));
    }
  }
}
