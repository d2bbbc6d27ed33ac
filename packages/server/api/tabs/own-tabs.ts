/**
 * Our own pages inside the Airflow UI, in the form in which `/api/v2/plugins` announces views of plugins. The UI shows
 * each in a frame. It replaces the names in braces by what is open.
 */
import type { Permission } from '../../auth/permissions.ts';

export const TABS_PATH = 'svc-pages';

type Destination = 'nav' | 'dag' | 'dag_run' | 'task_instance';
type Tab = { page: string; name: string; route: string; at: Destination; query: string; permissions: Permission[] };

const RUN = 'dag_id={DAG_ID}&run_id={RUN_ID}';
const TABS: readonly Tab[] = [
  { page: 'why', name: 'Why', route: 'why', at: 'dag_run', query: `?${RUN}`, permissions: ['read:task_instance'] },
  {
    page: 'why',
    name: 'Why',
    // The UI finds a view by its route, so the page of a task needs another one than that of a run.
    route: 'why-task',
    at: 'task_instance',
    query: `?${RUN}&task_id={TASK_ID}&map_index={MAP_INDEX}`,
    permissions: ['read:task_instance'],
  },
  {
    page: 'cost',
    name: 'Cost',
    route: 'cost',
    at: 'dag',
    query: '?dag_id={DAG_ID}',
    permissions: ['read:task_instance'],
  },
  {
    page: 'cost',
    name: 'Cost',
    route: 'cost-task',
    at: 'task_instance',
    query: `?${RUN}&task_id={TASK_ID}&map_index={MAP_INDEX}`,
    permissions: ['read:task_instance'],
  },
  {
    page: 'alerts',
    name: 'Alerts',
    route: 'alerts',
    at: 'nav',
    query: '',
    permissions: ['read:dag_run', 'read:task_instance'],
  },
  {
    page: 'fleet',
    name: 'Fleet',
    route: 'fleet',
    at: 'nav',
    query: '',
    permissions: ['read:pool', 'read:task_instance'],
  },
];

/** The pages as views of one plugin. Views that the caller may not read are omitted. */
export function ownPlugin(held: ReadonlySet<Permission>) {
  const views = TABS.filter(({ permissions }) => permissions.every((permission) => held.has(permission)));
  return {
    name: 'svc',
    source: 'svc',
    macros: [],
    timetables: [],
    listeners: [],
    global_operator_extra_links: [],
    operator_extra_links: [],
    // Addresses are relative to the base of the UI, which knows the path of the control plane.
    external_views: views.map(({ page, name, route, at, query }) => ({
      name,
      href: `${TABS_PATH}/${page}${query}`,
      icon: `${TABS_PATH}/static/tabs/icons/${page}.svg`,
      icon_dark_mode: `${TABS_PATH}/static/tabs/icons/${page}-dark.svg`,
      url_route: route,
      category: at === 'nav' ? 'browse' : null,
      nav_top_level: false,
      destination: at,
    })),
  };
}
