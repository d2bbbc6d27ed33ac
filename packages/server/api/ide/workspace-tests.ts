/**
 * Runs of a task, a DAG or tests from the editor. Nothing is stored, so a caller sees only its own latest test:
 *
 *   POST ──▶ running ──▶ success, failed, skipped        DELETE ──▶ stopped
 */
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { WorkspaceFiles } from '../../workspace/files.ts';
import { parsePath } from '../../workspace/path.ts';
import { WorkspaceTestRefused } from '../../workspace/tester.ts';
import type { WorkspaceTest, WorkspaceTestOrder, WorkspaceTester } from '../../workspace/tester.ts';
import type { Services } from '../services.ts';
import { TAGS, answering, openTo } from './open-workspace.ts';
import { Path } from './schemas.ts';

const PATH = '/api/v2/ide/test';
const Values = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });

const Order = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('run'),
        path: Path,
        dag_id: Type.String({ minLength: 1, maxLength: 250 }),
        task_id: Type.Optional(
          Type.String({ minLength: 1, maxLength: 250, description: 'Only this task; without it the whole DAG' }),
        ),
        conf: Type.Optional(Values),
        xcoms: Type.Optional({
          ...Values,
          description: 'Values of tasks that do not run, by `task` or `task:key`',
        }),
      },
      { title: 'WorkspaceRunOrder', additionalProperties: false },
    ),
    Type.Object(
      {
        kind: Type.Literal('pytest'),
        path: { ...Path, description: 'A file of tests, or a DAG file, whose tests run' },
        test: Type.Optional(
          Type.String({
            maxLength: 500,
            pattern: String.raw`^[^\W\d]\w*(::[^\W\d]\w*)*$`,
            description: 'Only this test of the file, such as `TestLoad::test_empty`',
          }),
        ),
      },
      { title: 'WorkspacePytestOrder', additionalProperties: false },
    ),
  ],
  { title: 'WorkspaceTestOrder' },
);

const Result = Type.Object(
  {
    name: Type.String({ description: 'The task instance, as in `load[1]`, or the test' }),
    state: Nullable(Type.String()),
    tries: Nullable(Type.Integer()),
    seconds: Nullable(Type.Number()),
    xcoms: Type.Array(
      Type.Object(
        { key: Type.String(), json: Type.String(), is_cut: Type.Boolean() },
        { title: 'WorkspaceTestXcom', description: 'A value that the task pushed, as JSON; a long one is cut' },
      ),
    ),
    error: Nullable(Type.String()),
    path: Nullable(Type.String({ description: 'The file of the line that raised the error' })),
    line: Nullable(Type.Integer()),
  },
  { title: 'WorkspaceTestResult' },
);

const Test = Type.Object(
  {
    test_id: Type.String(),
    kind: Type.Enum(['run', 'pytest']),
    path: Type.String(),
    dag_id: Nullable(Type.String()),
    task_id: Nullable(Type.String()),
    test: Nullable(Type.String()),
    state: Type.Enum(['running', 'success', 'failed', 'skipped', 'stopped']),
    problem: Nullable(Type.String({ description: 'Why there is no result, or why it is not complete' })),
    seconds: Type.Number(),
    log: Type.String({ description: 'What tasks and tests have printed, after the first `log_from` characters' }),
    log_length: Type.Integer({ description: 'Characters of the whole log' }),
    results: Type.Array(Result),
  },
  { title: 'WorkspaceTest' },
);

const LatestTest = Type.Object(
  { test: Nullable(Test) },
  { title: 'LatestWorkspaceTest', description: 'Null if you have started none since the control plane was started' },
);

const LogQuery = Type.Object({
  log_from: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Leaves out what is known' }),
});

export function registerWorkspaceTests(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  registerStart(app, services, files);

  app.get(
    PATH,
    {
      config: { grows: 'test', access: 'write:dag', refuses: ['not_found', 'conflict'] },
      schema: {
        operationId: 'get_workspace_test',
        tags: TAGS,
        summary: 'Get your latest test from the editor, with its log and its results',
        querystring: LogQuery,
        response: { 200: LatestTest },
      },
    },
    async (request) => {
      openTo(request, files);
      const found = testerOf(services).find(principalOf(request).userId);
      return { test: found ? testBody(found, request.query.log_from) : null };
    },
  );

  app.delete(
    PATH,
    {
      config: { access: 'write:dag', refuses: ['not_found', 'conflict'] },
      schema: {
        operationId: 'delete_workspace_test',
        tags: TAGS,
        summary: 'Stop your test; answers when its processes have ended',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      openTo(request, files);
      const isStopped = await testerOf(services).stop(principalOf(request).userId);
      if (!isStopped) throw new ApiError('not_found', 'no test of yours is running');
      return reply.code(204).send(null);
    },
  );
}

function registerStart(app: App, services: Services, files: WorkspaceFiles | undefined): void {
  app.post(
    PATH,
    {
      config: { grows: 'test', access: 'write:dag', refuses: ['not_found', 'conflict'] },
      schema: {
        operationId: 'post_workspace_test',
        tags: TAGS,
        summary: 'Run a task, a DAG or tests of a file in a process of its own; nothing is stored',
        description:
          'A caller has one test at a time. It runs as `svc test` does, as the user that runs tasks. Audited.',
        body: Order,
        response: { 201: Test },
      },
    },
    async (request, reply) => {
      openTo(request, files);
      const { text: path } = await answering(async () => parsePath(request.body.path));
      const order = orderOf({ ...request.body, path }, principalOf(request).userId);
      const started = await testerOf(services)
        .start(order)
        .catch((error: unknown) => {
          if (!(error instanceof WorkspaceTestRefused)) throw error;
          throw new ApiError(error.reason === 'busy' ? 'conflict' : 'not_found', error.message);
        });
      await recordAudit(databaseOf(request, services.db), actorOf(request), {
        event: 'post_workspace_test',
        objectKind: 'workspace_file',
        objectId: path,
        detail: order.kind === 'run' ? { dag_id: order.dagId, task_id: order.taskId } : { test: order.test },
      });
      return reply.code(201).send(testBody(started, 0));
    },
  );
}

function testerOf({ workspaceTester }: Services): WorkspaceTester {
  if (workspaceTester) return workspaceTester;
  throw new ApiError(
    'conflict',
    'the editor runs tests only in `svc lite`: use `svc test` on a machine with the files',
  );
}

function orderOf(body: Type.Static<typeof Order>, user: string): WorkspaceTestOrder {
  if (body.kind === 'pytest') return { user, path: body.path, kind: 'pytest', test: body.test ?? null };
  const { path, dag_id: dagId, task_id: taskId = null, conf = {}, xcoms = {} } = body;
  return { user, path, kind: 'run', dagId, taskId, conf, xcoms };
}

const testBody = ({ id, order, state, problem, seconds, log, results }: WorkspaceTest, logFrom: number) => ({
  test_id: id,
  kind: order.kind,
  path: order.path,
  dag_id: order.kind === 'run' ? order.dagId : null,
  task_id: order.kind === 'run' ? order.taskId : null,
  test: order.kind === 'pytest' ? order.test : null,
  state,
  problem,
  seconds,
  log: log.slice(logFrom),
  log_length: log.length,
  results: results.map(({ xcoms, ...result }) => ({
    ...result,
    xcoms: xcoms.map(({ key, json, isCut }) => ({ key, json, is_cut: isCut })),
  })),
});
