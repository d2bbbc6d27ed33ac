/** A mail server on loopback that keeps what it receives. It offers login and no TLS. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type ReceivedMail = {
  from: string;
  to: string[];
  login: string | null;
  headers: Record<string, string>;
  text: string;
};

export type SmtpReceiver = { port: number; mails: ReceivedMail[]; close(): Promise<void> };

export async function startSmtpReceiver(): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.setEncoding('utf8');
    socket.write('220 test ready\r\n');
    let buffer = '';
    let data: string[] | undefined;
    let mail = { from: '', to: [] as string[], login: null as string | null };
    const answer = (line: string): void => void socket.write(`${line}\r\n`);
    const take = (line: string): void => {
      if (data) {
        if (line !== '.') return void data.push(line.replace(/^\.\./, '.'));
        mails.push({ ...mail, ...readMail(data) });
        data = undefined;
        mail = { from: '', to: [], login: mail.login };
        return answer('250 taken');
      }
      const [command = ''] = line.split(/[ :]/);
      const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
      switch (command.toUpperCase()) {
        case 'EHLO':
          socket.write('250-test\r\n250 AUTH PLAIN\r\n');
          return undefined;
        case 'AUTH':
          mail.login =
            Buffer.from(line.split(' ')[2] ?? '', 'base64')
              .toString()
              .split('\0')[1] ?? null;
          return answer('235 welcome');
        case 'MAIL':
          mail.from = address;
          return answer('250 ok');
        case 'RCPT':
          mail.to.push(address);
          return answer('250 ok');
        case 'DATA':
          data = [];
          return answer('354 go on');
        case 'QUIT':
          answer('221 bye');
          return void socket.end();
        default:
          return answer('500 unknown');
      }
    };
    socket.on('data', (part: string) => {
      buffer += part;
      const lines = buffer.split('\r\n');
      buffer = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function readMail(lines: readonly string[]): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = lines.indexOf('');
  const unfolded = lines.slice(0, end).join('\r\n').replaceAll(/\r\n /g, '').split('\r\n');
  const headers = Object.fromEntries(
    unfolded.map((line) => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), decoded(value.join(': '))];
    }),
  );
  return { headers, text: Buffer.from(lines.slice(end + 1).join(''), 'base64').toString() };
}

const decoded = (value: string): string =>
  value.replaceAll(/=\?utf-8\?B\?([^?]*)\?=/g, (_word, text: string) => Buffer.from(text, 'base64').toString());
