import type { Config } from '../config/load.ts';
import type { Carrier } from '../redis/carrier.ts';
import { createDiskLogStore } from './disk-store.ts';
import type { LogStore } from './store.ts';

/** The store that `logs.backend` names. */
export function createLogStore({ logs }: Config, carrier?: Carrier): LogStore {
  switch (logs.backend) {
    case 'disk':
      return createDiskLogStore({ dir: logs.dir, prefix: logs.sink.prefix, carrier });
    case 'objstore':
    case 'cloudstore':
      throw new Error(`logs.backend: ${logs.backend} is not available yet: set it to disk`);
  }
}
