/** How often something was written to a socket of this process while `work` was under way: what leaves together is one write. */
import { Socket } from 'node:net';

export async function countWrites(work: () => Promise<unknown>): Promise<number> {
  let writes = 0;
  const { _write: one, _writev: several } = Socket.prototype;
  Socket.prototype._write = function (...args) {
    writes += 1;
    return one.apply(this, args);
  };
  Socket.prototype._writev = function (...args) {
    writes += 1;
    return several?.apply(this, args);
  };
  try {
    await work();
  } finally {
    Object.assign(Socket.prototype, { _write: one, _writev: several });
  }
  return writes;
}
