import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reporter } from 'vitest/node';
import { WAITS_VARIABLE, readWaits, reportWaits } from '../slow-waits.ts';

const SLOW_MS = 5_000;

/** At the end of a run: where tests had to wait longer than five seconds. They pass, but something has become slow. */
export class SlowWaitsReporter implements Reporter {
  /** Null: the folder is the caller's, who reads it. */
  private own: string | null = null;

  onInit(): void {
    if (process.env[WAITS_VARIABLE]) return;
    this.own = mkdtempSync(join(tmpdir(), 'svc-waits-'));
    process.env[WAITS_VARIABLE] = this.own; // workers are started later, and inherit it
  }

  onTestRunEnd(): void {
    const folder = this.own ?? process.env[WAITS_VARIABLE];
    if (!folder) return;
    const lines = reportWaits(readWaits(folder), SLOW_MS);
    if (this.own !== null) {
      rmSync(this.own, { recursive: true, force: true });
      delete process.env[WAITS_VARIABLE];
      this.own = null;
    }
    if (lines.length === 0) return;
    process.stdout.write(
      `\nWaits longer than ${SLOW_MS / 1_000} s (longest, times, place):\n  ${lines.join('\n  ')}\n`,
    );
  }
}
