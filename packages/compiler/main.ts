/** Where the thread that reads a workspace begins (reading/reading-thread.ts). It is a program of its own in a bundle. */
import { parentPort, workerData } from 'node:worker_threads';
import { serveReading } from './reading/serve-reading.ts';
import type { Progress } from './reading/thread-protocol.ts';

if (parentPort) serveReading({ port: parentPort, progress: (workerData as { progress: Progress }).progress });
