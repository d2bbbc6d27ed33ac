/**
 * The transport over standard input and output. Standard output carries only the protocol. Other output of the process
 * goes to standard error.
 */
import { Console } from 'node:console';
import type { Readable, Transform, Writable } from 'node:stream';
import { ProtocolErrorCode, isJSONRPCRequest } from '@modelcontextprotocol/server';
import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Log } from '../log.ts';
import { NESTING_FAULT, createLineCheck } from './nesting.ts';

export type StdioStreams = { stdin: Readable; stdout: Writable; stderr: Writable };

/** Resolves when the client has disconnected and all its requests are answered. */
export async function serveOverStdio(input: {
  streams: StdioStreams;
  createServer: () => McpServer;
  log: Log;
}): Promise<void> {
  const { streams, createServer, log } = input;
  globalThis.console = new Console(streams.stderr, streams.stderr);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = new DrainingStdioTransport(streams, resolve);
  serveStdio(createServer, { transport, onerror: (error) => log.warn('protocol', { error: error.message }) });
  await closed;
}

/**
 * The SDK drops calls in progress when the input ends. A client that pipes requests in (`svc-mcp < requests`) ends the
 * input at once and still expects answers. The end is therefore passed on after the last answer. Every call ends, so
 * the end always comes. A client that has disconnected also closes the output or sends a signal.
 */
class DrainingStdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: StdioServerTransport;
  readonly #open = new Set<string | number>();
  readonly #input: Transform = createLineCheck((line) => this.#refuse(line));
  readonly #onClosed: () => void;
  #hasEnded = false;

  constructor({ stdin, stdout }: StdioStreams, onClosed: () => void) {
    this.#onClosed = onClosed;
    this.#inner = new StdioServerTransport(this.#input, stdout);
    stdin.pipe(this.#input, { end: false });
    const ended = (): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#endWhenIdle();
    };
    stdin.on('end', ended).on('close', ended).on('error', ended);
  }

  async start(): Promise<void> {
    Object.assign(this.#inner, {
      onmessage: (message: JSONRPCMessage) => {
        this.#count(message);
        this.onmessage?.(message);
      },
      onerror: (error: Error) => this.onerror?.(error),
      onclose: () => {
        this.onclose?.();
        this.#onClosed();
      },
    });
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#inner.send(message);
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
    if (this.#hasEnded) this.#endWhenIdle();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Cancelled calls and subscriptions are never answered, so the end must not wait for them. */
  #count(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) {
      if (message.method !== 'subscriptions/listen') this.#open.add(message.id);
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: string | number };
      if (requestId !== undefined) this.#open.delete(requestId);
    }
  }

  /** The answer of a message that is not passed on, so that its client does not wait for one. */
  #refuse(line: string): void {
    this.onerror?.(new Error(NESTING_FAULT));
    const { id } = asObject(line);
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const error = { code: ProtocolErrorCode.InvalidRequest, message: NESTING_FAULT };
    this.#inner.send({ jsonrpc: '2.0', id, error }).catch(() => {}); // the client has gone
  }

  #endWhenIdle(): void {
    // Input that is not parsed yet may contain more requests.
    if (this.#input.readableLength + this.#input.writableLength > 0) setImmediate(() => this.#endWhenIdle());
    else if (this.#open.size === 0) this.#input.end();
  }
}

function asObject(line: string): { id?: unknown } {
  try {
    return (JSON.parse(line) ?? {}) as { id?: unknown };
  } catch {
    return {};
  }
}
