/**
 * The calls of a worker that notifies listeners of a run: instances_of_run, and nobody_listens when it found no
 * listener.
 */
import { listInstancesOfRun } from '../../db/dag-runs/external-states.ts';
import { noteUnheard } from '../../db/dags/plugins.ts';
import type { Database } from '../../db/database.ts';
import { RpcError } from '../rpc-errors.ts';
import type { CallContext, CallMethod } from './call-context.ts';

export function listenersCalls({ db }: { db: Database }): Record<'instances_of_run' | 'nobody_listens', CallMethod> {
  const tenantOf = ({ identity }: CallContext) => {
    if (identity.kind !== 'callback') throw new RpcError('invalid', 'this attempt was not asked to tell listeners');
    return db.tenant(identity.tenantId);
  };
  return {
    async instances_of_run(context) {
      const instances = await listInstancesOfRun(tenantOf(context), context.identity.run);
      return { json: JSON.stringify({ instances }) };
    },
    async nobody_listens(context) {
      await noteUnheard(tenantOf(context), context.identity.dagId);
      return { json: 'null' };
    },
  };
}
