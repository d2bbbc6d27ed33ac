/** An HTTP client on a thread of its own: what it does is not counted as work of this one. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export type OutsideRequest = {
  url: string;
  method: string;
  headers: Record<string, string>;
  /** A text that is sent as it is, or one that is sent so many times between two others. */
  body?: string | { before: string; repeated: string; times: number; after: string };
};

export type OutsideClient = {
  /** The status, or 0 when there was no answer; the begin of the text, and its length. */
  ask(request: OutsideRequest): Promise<{ status: number; text: string; length: number }>;
  close(): Promise<void>;
};

const CLIENT = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', async ({ url, body, ...options }) => {
  const text = typeof body === 'object' ? body.before + body.repeated.repeat(body.times) + body.after : body;
  try {
    const signal = AbortSignal.timeout(60000);
    const answer = await fetch(url, { ...options, redirect: 'manual', signal, ...(text !== undefined && { body: text }) });
    const whole = await answer.text();
    parentPort.postMessage({ status: answer.status, text: whole.slice(0, 300), length: whole.length });
  } catch (error) {
    parentPort.postMessage({ status: 0, text: String(error), length: 0 });
  }
});
`;

export function startOutsideClient(): OutsideClient {
  const worker = new Worker(CLIENT, { eval: true });
  return {
    async ask(request) {
      const answered = once(worker, 'message');
      worker.postMessage(request, []);
      const [answer] = (await answered) as [{ status: number; text: string; length: number }];
      return answer;
    },
    async close() {
      await worker.terminate();
    },
  };
}
