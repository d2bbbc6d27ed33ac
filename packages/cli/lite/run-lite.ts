/**
 * The whole product in one process, plus its Postgres:
 *
 *   lock ──▶ Postgres ──▶ schema ──▶ control plane ──▶ workspace ──▶ welcome
 *   signal ──▶ workspace ──▶ control plane ──▶ Postgres ──▶ lock
 *
 * Parts stop in reverse order, wherever the start stopped.
 */
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { isLoopbackHost, parseAddress } from '@svc/server/config/address.ts';
import { checkBoot } from '@svc/server/config/boot-checks.ts';
import { executorNames } from '@svc/server/config/executor-names.ts';
import { checkLogFolder } from '@svc/server/logs/check-folder.ts';
import { loadConfig } from '@svc/server/config/load.ts';
import type { Config } from '@svc/server/config/load.ts';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { RunningServer } from '@svc/server/server.ts';
import { CliError, EXIT, messageOf, usageError } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { prepareSchema } from '../database.ts';
import { columnsOf } from '../output/terminal.ts';
import { runStages } from '../progress.ts';
import type { Stage } from '../progress.ts';
import type { ConfigOptions } from '../server-config.ts';
import { startControlPlane } from '../start-server.ts';
import { endOnUncaught, listenForStop } from '../stop-signal.ts';
import type { StopSignal } from '../stop-signal.ts';
import { VERSION } from '../version.ts';
import { endChildren } from './children.ts';
import { collectWhenIdle } from './collect-when-idle.ts';
import { loadLiteConfig } from './config.ts';
import type { LiteConfig } from './config.ts';
import { prepareDataDirectory } from './data-directory.ts';
import type { DataDirectory } from './data-directory.ts';
import { applyEnvironmentFile, describeEnvironment } from './environment-file.ts';
import { LITE_HOST, LITE_PORT, liteDefaults } from './defaults.ts';
import type { LiteDefaults } from './defaults.ts';
import { createWorkspaceTester } from './editor-tests/tester.ts';
import type { LiteTester } from './editor-tests/tester.ts';
import { adminPasswordFile, readOrMakeSecrets } from './generated-secrets.ts';
import type { GeneratedSecrets } from './generated-secrets.ts';
import { createLiteLog } from './lite-log.ts';
import type { LiteLog } from './lite-log.ts';
import { acquireLock } from './lock.ts';
import type { Lock } from './lock.ts';
import { onOwnAddresses, ownAddresses } from './own-addresses.ts';
import { listenerOn, tryListening } from './ports.ts';
import { explainFailure, isDiskFull, startLitePostgres } from './postgres.ts';
import type { LitePostgres } from './postgres.ts';
import { openRotatingFile } from './rotating-file.ts';
import { defaultTaskUser, describeTaskUser, liteTaskUser } from './task-user.ts';
import { prepareTools } from './tools.ts';
import type { LiteTools } from './tools.ts';
import { renderWelcome } from './welcome.ts';
import type { Welcome } from './welcome.ts';
import { beginWorkspace, describeFailures, describeSync } from './workspace.ts';
import type { BegunWorkspace, LiteWorkspace } from './workspace.ts';
import { createWorkspaceValues } from './workspace-values.ts';
import type { WorkspaceValues } from './workspace-values.ts';

export type LiteOptions = ConfigOptions & {
  dataDirectory: string;
  isDefaultDirectory: boolean;
  port?: number;
  /** An absolute path. */
  workspace: string | undefined;
  verbose: boolean;
};

/** The parts that have been started. */
type Running = {
  lock: Lock;
  log?: LiteLog;
  tools?: LiteTools;
  postgres?: LitePostgres;
  server?: RunningServer;
  /** Present until the workspace is opened. */
  begun?: Promise<BegunWorkspace>;
  workspace?: LiteWorkspace;
  /** Present if there is a workspace. */
  tester?: LiteTester;
};

const LOAD_AHEAD_MS = 50;
const UNOPENED_MS = 3_000;
const AGENT = fileURLToPath(new URL('../../../bin/svc-agent', import.meta.url));

export async function runLite(context: CliContext, options: LiteOptions): Promise<void> {
  const config = loadLiteConfig(context, options);
  for (const warning of config.warnings) warn(context, warning);
  const directory = await prepareDataDirectory(options.dataDirectory, process.getuid?.() === 0);
  try {
    await runOn(directory, { context, options, config });
  } catch (error) {
    throw isDiskFull(error) && !(error instanceof CliError) ? explainFailure(error, directory) : error;
  }
}

async function runOn(
  directory: DataDirectory,
  input: { context: CliContext; options: LiteOptions; config: LiteConfig },
): Promise<void> {
  const { context } = input;
  const running: Running = { lock: await acquireLock(directory.lock) };
  const abandon = (): void => {
    endChildren(); // ends tasks too, because no process remains to stop them later
    running.postgres?.abandon();
    running.lock.release();
  };
  const stop = listenForStop({ onForce: abandon });
  endOnUncaught((error, kind) => {
    if (running.server) running.server.logger.fatal({ err: error }, kind);
    else context.stderr.write(`svc: ${kind}: ${messageOf(error)}\n`);
    abandon();
  });
  try {
    await bringUp({ ...input, directory, running, stop });
    collectWhenIdle();
    if (!stop.isRequested()) await stop.requested;
    running.log?.showErrorsOnly();
    context.stdout.write('\nStopping: running tasks are told to end. Ctrl-C again does not wait for them.\n');
  } finally {
    await takeDown(running, (error) => context.stderr.write(`svc: not stopped cleanly: ${messageOf(error)}\n`));
    stop.dispose();
  }
  context.stdout.write('Stopped.\n');
}

/** If one part fails to stop, the others are still stopped. */
async function takeDown(running: Running, report: (error: unknown) => void): Promise<void> {
  const parts = [
    () => Promise.all([running.tester?.close(), running.workspace?.close()]),
    () => running.server?.close(),
    () => running.postgres?.stop(),
    () => Promise.all([closeUnopened(running), running.tools?.settle()]),
  ];
  for (const stop of parts) {
    try {
      await stop();
    } catch (error) {
      report(error);
    }
  }
  endChildren(); // an installation that waits for the network may still run
  running.lock.release();
}

type Start = {
  context: CliContext;
  options: LiteOptions;
  config: LiteConfig;
  directory: DataDirectory;
  running: Running;
  stop: StopSignal;
};

async function bringUp({ context, options, config, directory, running, stop }: Start): Promise<void> {
  const secrets = readOrMakeSecrets(directory.secrets);
  const defaults = await startingDefaults({ options, config, directory, secrets });
  const early = config.withDefaults(defaults);
  refuseUnbootable(early);
  await refuseTakenPort(early);
  const log = createLiteLog({
    level: early.observability.logLevel,
    format: early.observability.logFormat,
    file: openRotatingFile(directory.serverLog),
    terminal: context.stdout,
    verbose: options.verbose,
  });
  running.log = log;
  let isNew = false;
  const { workspace, distDir, airflowVersion: uiVersion } = early.ui;
  const taskUser = liteTaskUser(early.executor.taskUser);
  // This must precede everything that inherits the environment.
  const variables = workspace === '' ? undefined : await applyEnvironmentFile(workspace, process.env);
  const told = variables && describeEnvironment(variables, workspace);
  if (told !== undefined) log.logger.info(told);
  const values = createWorkspaceValues();
  const tools = prepareTools({ env: context.env, distDir, uiVersion, workspace, taskUser, answerValue: values.answer });
  running.tools = tools;
  if (workspace !== '') {
    beginReading({ workspace, executors: executorNames(early), values, running, tools, log });
    running.tester = createWorkspaceTester({
      workspace,
      env: process.env, // with the variables of the workspace
      user: taskUser,
      interpreters: tools.interpreters,
      outcomes: () => running.workspace?.outcomes(),
      timeoutMs: testTimeoutMs(early),
    });
  }

  await runStages(context, {
    plain: options.verbose,
    isCancelled: stop.isRequested,
    stages: [
      {
        title: 'Postgres',
        run: async () => {
          const chosen = config.chosen('database.url');
          loadControlPlaneAhead();
          if (chosen !== undefined) return `Postgres: yours (${chosen.origin})`;
          running.postgres = await startLitePostgres({
            directory,
            password: secrets.databasePassword,
            onLog: openRotatingFile(directory.postgresLog).write,
            onRestart: (message) => log.logger.error(message),
          });
          defaults['database.url'] = running.postgres.url;
          return `Postgres on port ${running.postgres.port}`;
        },
      },
      {
        title: 'Schema',
        run: async () => {
          const schema = await prepareSchema(config.withDefaults(defaults).database.url);
          isNew = !schema.hasUsers;
          return schema.applied.length === 0 ? 'Schema up to date' : `Schema migrated (${schema.applied.length})`;
        },
      },
      // This must precede the control plane, which looks for the bundle only once.
      { title: 'Web UI', run: (say) => (tools.onProgress(say), unlessStopped(stop, tools.webUi)) },
      // This must also precede work that an earlier run left.
      ...(taskUser ? [taskUserStage({ user: taskUser, tools, log, stop })] : []),
      {
        title: 'Control plane',
        run: async () => {
          const { logger, secrets: registry } = log;
          const workspaceCompiler = {
            units: () => running.workspace?.compiler.units(),
            compile: async (path: string) => running.workspace?.compiler.compile(path),
          };
          running.server = await onOwnAddresses({
            config,
            directory,
            defaults,
            start: () =>
              startControlPlane({
                config: config.withDefaults(defaults),
                logger,
                secrets: registry,
                workspaceCompiler,
                ...(running.tester && { workspaceTester: running.tester }),
              }),
          });
          await Promise.race([running.server.ready, stop.requested]);
          return `Control plane on ${running.server.url}`;
        },
      },
      ...(workspace === '' ? [] : [workspaceStage({ tools, running, stop })]),
    ],
  });
  if (stop.isRequested() || !running.server) return;
  running.lock.announce(running.server.url);
  const failures = running.workspace ? describeFailures(running.workspace.first) : [];
  for (const warning of [...failures, ...userWarnings(early, defaults)]) warn(context, warning);
  const password = passwordFact({ config, secrets, directory, isNew });
  welcome({ context, options, config: early, directory, password, url: running.server.url });
  log.showProblems();
  flushCompileCache(); // a killed process would not write it
}

/**
 * Loads the control plane in advance. Loading takes about as long as the start of Postgres, so both run at the same
 * time.
 */
function loadControlPlaneAhead(): void {
  // The later import reports a failure.
  setTimeout(() => void import('@svc/server/server.ts').catch(() => {}), LOAD_AHEAD_MS);
}

/** Ends a wait for packages, and thus for the network, when the user stops lite. */
const unlessStopped = <T>({ requested }: StopSignal, work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work, requested.then(() => undefined)]);

function taskUserStage({
  user,
  tools,
  log,
  stop,
}: {
  user: TaskUser;
  tools: LiteTools;
  log: LiteLog;
  stop: StopSignal;
}): Stage {
  return {
    title: 'User of tasks',
    run: async (say) => {
      tools.onProgress(say);
      try {
        const opened = await unlessStopped(stop, tools.tasksReachAll());
        if (!opened) return undefined;
        log.logger.info(describeTaskUser(user, opened));
      } catch (error) {
        // This error is reported with the workspace, because nothing runs without Python.
        if (!(error instanceof PythonEnvironmentError)) throw error;
      }
      return `Tasks run as ${user.name}`;
    },
  };
}

/**
 * Starts reading the workspace while everything else starts. Compiling needs only Python, and takes as long as Postgres
 * and the control plane.
 */
function beginReading(input: {
  workspace: string;
  executors: readonly string[];
  values: WorkspaceValues;
  tools: LiteTools;
  running: Running;
  log: LiteLog;
}): void {
  const { workspace, executors, values, tools, running } = input;
  const { logger } = input.log;
  const log = {
    info: (message: string) => logger.info(message),
    warn: (message: string) => logger.warn(message),
    error: (message: string) => logger.error(message),
  };
  running.begun = tools.compiler().then((compiler) => beginWorkspace({ workspace, executors, values, compiler, log }));
  running.begun.catch(() => {}); // reported when it is opened
}

/** Without Python, the control plane is still useful, so this is a warning. */
function workspaceStage({ tools, running, stop }: { tools: LiteTools; running: Running; stop: StopSignal }): Stage {
  return {
    title: 'Workspace',
    run: async (say) => {
      const { server, begun } = running;
      if (!server || !begun || stop.isRequested()) return undefined;
      try {
        tools.onProgress(say);
        const workspace = await unlessStopped(stop, begun);
        if (!workspace) return undefined;
        delete running.begun; // it closes itself if it cannot be opened
        running.workspace = await workspace.open(server);
        return describeSync(running.workspace.first);
      } catch (error) {
        if (!(error instanceof PythonEnvironmentError)) throw error;
        return `Workspace not compiled: ${error.message}. ${error.hint}`;
      }
    },
  };
}

/**
 * Waits only briefly, because the compiler may wait for a Python from a slow network. The start reports a workspace
 * that failed.
 */
async function closeUnopened({ begun }: Running): Promise<void> {
  const closed = begun?.then(
    (workspace) => workspace.close(),
    () => {},
  );
  await Promise.race([closed, sleep(UNOPENED_MS, undefined, { ref: false })]);
}

function welcome(input: {
  context: CliContext;
  options: LiteOptions;
  config: Config;
  directory: DataDirectory;
  password: Welcome['password'];
  url: string;
}): void {
  const { context, options, config, directory, password, url } = input;
  const facts: Welcome = {
    version: VERSION,
    url,
    user: config.auth.devNoAuth ? undefined : config.auth.bootstrap.email,
    password,
    dataDirectory: directory.path,
    dataDirectoryOption: options.isDefaultDirectory ? '' : ` --data-dir ${directory.path}`,
    workspace: config.ui.workspace === '' ? undefined : config.ui.workspace,
  };
  context.stdout.write(renderWelcome(facts, columnsOf(context.stdout)));
}

async function startingDefaults(input: {
  options: LiteOptions;
  config: LiteConfig;
  directory: DataDirectory;
  secrets: GeneratedSecrets;
}): Promise<LiteDefaults> {
  const { options, config, directory, secrets } = input;
  const http = parseAddress(String(config.chosen('server.http_addr')?.value ?? ''));
  return {
    ...liteDefaults({
      port: http?.port ?? LITE_PORT,
      secrets,
      logs: directory.logs,
      staging: directory.staging,
      agentPath: AGENT,
      taskUser: await defaultTaskUser(config, directory.path),
      workspace: options.workspace,
    }),
    ...(await ownAddresses(config, directory)),
  };
}

const testTimeoutMs = ({ ui }: Config): number => ui.testTimeoutSeconds * 1_000;

/** Reports at the start what the control plane would refuse at the end. */
function refuseUnbootable(config: Config): void {
  const errors = [...checkBoot(config).errors, ...checkLogFolder(config)];
  if (errors.length > 0) throw usageError(`cannot start:\n${errors.map(({ message }) => `  - ${message}`).join('\n')}`);
}

/** Checked before Postgres starts, because it is the most common failure and should be reported at once. */
async function refuseTakenPort(config: Config): Promise<void> {
  const { host, port } = parseAddress(config.server.httpAddr) ?? { host: LITE_HOST, port: 0 };
  const found = port === 0 ? port : await tryListening(host === '' ? '::' : host, port);
  if (typeof found === 'number') return;
  const { why, hint } = unusableAddress(found, port);
  throw new CliError(`server.http_addr: ${config.server.httpAddr} ${why}`, { exitCode: EXIT.usage, hint });
}

function unusableAddress(code: string, port: number): { why: string; hint: string } {
  switch (code) {
    case 'EADDRINUSE': {
      const by = listenerOn(port);
      return {
        why: `is in use${by === undefined ? '' : ` by ${by}`}`,
        hint: `stop it, or choose another port: svc lite --port ${port + 1}`,
      };
    }
    case 'EACCES':
      return {
        why: 'may not be listened on by this user',
        hint: `choose a port above 1023: svc lite --port ${LITE_PORT}`,
      };
    case 'EADDRNOTAVAIL':
      return { why: 'is not an address of this machine', hint: `use ${LITE_HOST}, or 0.0.0.0 for all addresses` };
    default:
      return { why: `cannot be listened on (${code})`, hint: 'choose another address' };
  }
}

/** Returns warnings about the user's settings, without those that lite's own values always cause. */
function userWarnings(config: Config, defaults: LiteDefaults): string[] {
  const always = new Set(checkBoot(loadConfig({ env: {}, flags: defaults }).config).warnings);
  const warnings = checkBoot(config).warnings.filter((warning) => !always.has(warning));
  if (!isLoopbackHost(parseAddress(config.server.httpAddr)?.host ?? '')) {
    warnings.push(`server.http_addr is ${config.server.httpAddr}: other machines can reach lite, over plain http`);
  }
  return warnings;
}

function passwordFact(input: {
  config: LiteConfig;
  secrets: GeneratedSecrets;
  directory: DataDirectory;
  isNew: boolean;
}): Welcome['password'] {
  const { config, secrets, directory, isNew } = input;
  const configured = config.chosen('auth.bootstrap.password');
  if (configured) return { kind: 'configured', origin: configured.origin };
  const file = adminPasswordFile(directory.secrets);
  return isNew ? { kind: 'new', value: secrets.adminPassword, file } : { kind: 'kept', file };
}
