/**
 * A client of SMTP for one message: TLS from the start or by STARTTLS, login with PLAIN. Its errors have the answer code
 * of the server and no secret.
 */
import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ChannelError, checkHost, guardedLookup, reasonOf } from '../outbound.ts';

export type SmtpServer = {
  host: string;
  port: number;
  /** `tls`: from the start. `starttls`: the server must offer it. `none`: in the clear. */
  security: 'tls' | 'starttls' | 'none';
  login: string | null;
  password: string | null;
};

export type Mail = { from: string; to: readonly string[]; data: string };
export type SendMail = (server: SmtpServer, mail: Mail) => Promise<void>;

const TIMEOUT_MS = 15_000;
const MAX_REPLY = 64 * 1024;

export const createSendMail =
  (options: { allowsPrivate: boolean }): SendMail =>
  async (server, mail) => {
    checkHost(server.host, options);
    const lookup = guardedLookup(options);
    const { host, port } = server;
    const socket =
      server.security === 'tls'
        ? connectTls({ host, port, servername: host, lookup })
        : connectPlain({ host, port, lookup });
    const session = createSession(socket);
    const timer = setTimeout(() => session.fail(new ChannelError(`${host}: no answer within 15 s`)), TIMEOUT_MS);
    try {
      await converse(session, server, mail);
    } catch (error) {
      throw error instanceof ChannelError ? error : new ChannelError(`${host}: ${reasonOf(error)}`);
    } finally {
      clearTimeout(timer);
      session.close();
    }
  };

type Session = {
  /** Sends a command, if there is one, and returns the reply. Throws unless its code begins as expected. */
  say(command: string | null, expected: string): Promise<string>;
  startTls(host: string): void;
  fail(error: Error): void;
  close(): void;
};

async function converse(session: Session, server: SmtpServer, mail: Mail): Promise<void> {
  await session.say(null, '2');
  let offers = await session.say('EHLO svc', '2');
  if (server.security === 'starttls') {
    if (!/^250[ -]STARTTLS/im.test(offers)) {
      throw new ChannelError(`${server.host} offers no STARTTLS: set disable_tls in the extra of the connection`, {
        isPermanent: true,
      });
    }
    await session.say('STARTTLS', '2');
    session.startTls(server.host);
    offers = await session.say('EHLO svc', '2');
  }
  if (server.login !== null && server.password !== null && /^250[ -]AUTH/im.test(offers)) {
    const secret = Buffer.from(`\0${server.login}\0${server.password}`).toString('base64');
    await session.say(`AUTH PLAIN ${secret}`, '2');
  }
  await session.say(`MAIL FROM:<${mail.from}>`, '2');
  for (const address of mail.to) await session.say(`RCPT TO:<${address}>`, '2');
  await session.say('DATA', '3');
  // A line that is one dot would end the message.
  await session.say(`${mail.data.replaceAll(/^\./gm, '..')}\r\n.`, '2');
  await session.say('QUIT', '2').catch(() => {}); // the message is accepted already
}

function createSession(first: Socket): Session {
  let socket = first;
  let buffer = '';
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake?.();
    socket.destroy();
  };
  const listen = (): void => {
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      buffer += part;
      if (buffer.length > MAX_REPLY) fail(new ChannelError('the mail server sent too much'));
      wake?.();
    });
    socket.on('error', fail);
    socket.on('close', () => fail(new ChannelError('the mail server closed the connection')));
  };
  listen();

  /** A reply ends with a line whose code is followed by a space. */
  async function reply(): Promise<string> {
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(buffer)?.[0];
      if (found !== undefined) {
        buffer = buffer.slice(found.length);
        return found;
      }
      if (failure) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    async say(command, expected) {
      if (failure) throw failure;
      if (command !== null) socket.write(`${command}\r\n`);
      const answer = await reply();
      if (answer.startsWith(expected)) return answer;
      // The text of a reply may repeat what was sent, so only its code is shown.
      const step = command === null ? 'the connection' : (/^\w+/.exec(command)?.[0] ?? 'the message');
      throw new ChannelError(`the mail server answered ${answer.slice(0, 3)} to ${step}`, {
        isPermanent: answer.startsWith('5'),
      });
    },
    startTls(host) {
      for (const event of ['data', 'error', 'close']) socket.removeAllListeners(event);
      buffer = '';
      socket = connectTls({ socket, servername: host });
      listen();
    },
    fail,
    close() {
      socket.removeAllListeners('close');
      socket.destroy();
    },
  };
}
