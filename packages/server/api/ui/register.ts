/** The private endpoints of the web UI, one line each. */
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { registerUiBackfills } from './backfills.ts';
import { registerUiCalendar } from './calendar.ts';
import { registerUiDags } from './dags.ts';
import { registerUiDashboard } from './dashboard.ts';
import { registerUiDeadlineAlerts } from './deadline-alerts.ts';
import { registerUiDeadlines } from './deadlines.ts';
import { registerUiDependencies } from './dependencies.ts';
import { registerUiGantt } from './gantt.ts';
import { registerUiGrid } from './grid.ts';
import { registerUiHookMeta } from './hook-meta.ts';
import { registerUiNextRunAssets } from './next-run-assets.ts';
import { registerUiPartitions } from './partitions.ts';
import { registerUiRunStats } from './run-stats.ts';
import { registerUiShell } from './shell.ts';
import { registerUiStructure } from './structure.ts';

export function registerUi(app: App, services: Services): void {
  registerUiShell(app, services);
  registerUiDags(app, services);
  registerUiDashboard(app, services);
  registerUiGrid(app, services);
  registerUiStructure(app, services);
  registerUiDependencies(app, services);
  registerUiGantt(app, services);
  registerUiCalendar(app, services);
  registerUiNextRunAssets(app, services);
  registerUiBackfills(app, services);
  registerUiDeadlines(app, services);
  registerUiDeadlineAlerts(app, services);
  registerUiHookMeta(app, services);
  registerUiPartitions(app, services);
  registerUiRunStats(app, services);
}
