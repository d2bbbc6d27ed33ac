/**
 * Triggers runs, and walks away from some of its questions before they are answered. What was accepted once must exist once:
 * asked again with the same run id, the control plane must not make another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.ts';
import type { ControlPlane } from './runs-plant.ts';

export type Accepted = { dagId: string; runId: string };

export type TriggerClient = {
  /** One run of a random DAG, asked for until somebody says that it exists. */
  trigger(): Promise<void>;
  readonly accepted: readonly Accepted[];
  /** Questions whose answer was not waited for. */
  readonly walkedAway: () => number;
};

const PATIENCE_MS = 180_000;

export function createTriggerClient(input: {
  dagIds: readonly string[];
  controlPlanes: readonly ControlPlane[];
  token: string;
  random: Random;
  onViolation(message: string): void;
}): TriggerClient {
  const { dagIds, controlPlanes, random, onViolation } = input;
  const accepted: Accepted[] = [];
  let triggered = 0;
  let walkedAway = 0;

  /** The status, or undefined when nobody answered or nobody waited. */
  async function ask(dagId: string, runId: string): Promise<number | undefined> {
    const impatient = random.below(4) === 0;
    const signal = AbortSignal.timeout(impatient ? 1 + random.below(40) : 10_000);
    try {
      const response = await fetch(`${random.pick(controlPlanes).url}/api/v2/dags/${dagId}/dagRuns`, {
        method: 'POST',
        headers: { authorization: `Bearer ${input.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ dag_run_id: runId, logical_date: null }),
        signal,
      });
      const text = await response.text();
      if (![200, 201, 409, 503].includes(response.status)) {
        onViolation(`trigger ${dagId} ${runId}: ${response.status} ${text.slice(0, 500)}`);
      }
      return response.status;
    } catch {
      if (impatient) walkedAway += 1;
      return undefined;
    }
  }

  return {
    accepted,
    walkedAway: () => walkedAway,
    async trigger() {
      const [dagId, runId] = [random.pick(dagIds), `chaos-${(triggered += 1)}`];
      let mayExist = false;
      for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(50)) {
        const status = await ask(dagId, runId);
        if (status === 409 && !mayExist) onViolation(`${dagId} ${runId} exists before anybody asked for it`);
        if (status === undefined || status === 503) mayExist = true;
        else if (status < 300 || status === 409) return void accepted.push({ dagId, runId });
        else return;
      }
      onViolation(`${dagId} ${runId} could not be triggered within ${PATIENCE_MS} ms`);
    },
  };
}
