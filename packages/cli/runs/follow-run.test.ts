/** The live display on a terminal that is one: a pseudo-terminal, with a run that really runs. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLiveServer, twoSteps } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { screenAfter } from '@svc/testing/cli/terminal.ts';

const SVC = fileURLToPath(new URL('../../../bin/svc', import.meta.url));
const IN_A_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
  await live.addDag('etl', twoSteps('etl'));
});
afterAll(() => live.close());

describe('svc runs watch on a terminal', () => {
  it('leaves one picture of the run as it ended, and the cursor', async () => {
    const argv = ['runs', 'trigger', 'etl', '--run-id', 'drawn', '--param', 'fail=true', '--wait'];
    const env = { ...live.env, NO_COLOR: '1', TERM: 'xterm', HOME: process.env['HOME'] ?? '' };
    const python = live.env['SVC_PYTHON'] ?? '';
    const failure = await promisify(execFile)(python, ['-c', IN_A_TERMINAL, SVC, ...argv], { env }).then(
      () => undefined,
      (error: unknown) => error as { code: number; stdout: string },
    );
    expect(failure?.code).toBe(1);
    const sent = failure?.stdout ?? '';
    expect(sent).toContain('\u001b[?25l');
    expect(sent.lastIndexOf('\u001b[?25h')).toBeGreaterThan(sent.lastIndexOf('\u001b[?25l'));
    const screen = screenAfter(sent).join('\n');
    expect(screen.match(/^etl {2}drawn {2}failed/gm)).toHaveLength(1);
    expect(screen.match(/^✔ extract +success/gm)).toHaveLength(1);
    expect(screen.match(/^✖ load +failed .*the warehouse is closed/gm)).toHaveLength(1);
    expect(screen).not.toContain('▶');
  });
});
