/** The other end of reading-thread.ts: answers calls one after the other, and says which file it reads. */
import type { MessagePort } from 'node:worker_threads';
import { READING } from '@svc/spec/files/read-text.ts';
import { DiscoverError, discover } from '../discover.ts';
import { readProject } from './read-project.ts';
import { noteProgress } from './thread-protocol.ts';
import type { Progress, ReadingAnswer, ReadingCall } from './thread-protocol.ts';

export function serveReading({ port, progress }: { port: MessagePort; progress: Progress }): void {
  READING.subscribe((message) => noteProgress(progress, (message as { path: string }).path));
  port.on('message', (call: ReadingCall) => {
    void answer(call).then((said) => port.postMessage(said));
  });
}

async function answer({ id, of }: ReadingCall): Promise<ReadingAnswer> {
  try {
    if (of.kind === 'units') return { id, kind: 'units', units: await discover(of.path) };
    return { id, kind: 'project', read: readProject(of.unit) };
  } catch (error) {
    const { message } = error as Error;
    return { id, kind: 'failed', message, isDiscovery: error instanceof DiscoverError };
  }
}
