/**
 * What the bodies of tasks in pods say that they do, written down where svc knows nothing of it. A body tells its line until
 * somebody has taken it, so that none is missing; one that is told twice is one line.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { HOST_ADDRESS } from './cluster.ts';

export type LedgerLine = {
  id: string;
  what: 'start' | 'end';
  attempt: string;
  /** Of the pod. */
  host: string;
  dag: string;
  run: string;
  task: string;
  try: number;
};

export type Ledger = {
  readonly lines: readonly LedgerLine[];
  /** Python: functions `tell(what)` and `wait_for(gate)` for bodies. */
  readonly python: string;
  /** Lets the bodies go on that wait for this gate, now or later. */
  open(gate: string): void;
  close(): void;
};

export async function startLedger(): Promise<Ledger> {
  const lines = new Map<string, LedgerLine>();
  const gates = new Set<string>();
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.end(gates.has(request.url?.slice(1) ?? '') ? 'open' : 'closed');
    void text(request).then((body) => {
      const line = JSON.parse(body) as LedgerLine;
      if (!lines.has(line.id)) lines.set(line.id, line);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, HOST_ADDRESS, resolve);
  });
  const url = `http://${HOST_ADDRESS}:${(server.address() as AddressInfo).port}/`;
  return {
    get lines() {
      return [...lines.values()];
    },
    python: `
def tell(what):
    import json, os, time, urllib.request, uuid
    from airflow.sdk import get_current_context
    ti = get_current_context()["ti"]
    line = {
        "id": uuid.uuid4().hex, "what": what, "attempt": os.environ["SVC_ATTEMPT"], "host": os.uname().nodename,
        "dag": ti.dag_id, "run": ti.run_id, "task": ti.task_id, "try": ti.try_number,
    }
    while True:
        try:
            with urllib.request.urlopen("${url}", json.dumps(line).encode(), timeout=5) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.2)

def wait_for(gate):
    import time, urllib.request
    while True:
        try:
            with urllib.request.urlopen("${url}" + gate, timeout=5) as answer:
                if answer.read() == b"open":
                    return
        except OSError:
            pass
        time.sleep(0.2)
`,
    open: (gate) => void gates.add(gate),
    close: () => void server.close(),
  };
}
