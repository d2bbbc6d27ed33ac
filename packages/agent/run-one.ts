/** `svc-agent run`: runs the one attempt whose credential it was given, and ends. For a container per attempt. */
import type { Assignment } from '@svc/proto/agent-service.ts';
import { watchContact } from './contact/contact-watch.ts';
import { connectControlPlane } from './contact/control-plane.ts';
import { exchangeToken } from './contact/exchange-token.ts';
import type { ForkServer } from './fork-server.ts';
import { SettingsError } from './settings.ts';
import type { AgentSettings } from './settings.ts';
import { giveUpAfterStop } from './stop-grace.ts';
import { createWorker } from './worker.ts';

export async function runOne(input: {
  settings: AgentSettings;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGTERM. */
  stop: AbortSignal;
  say: (text: string) => void;
  /** A Python process that is started already. */
  first?: ForkServer | undefined;
}): Promise<number> {
  const { settings, env, stop, say } = input;
  const { workerId } = settings;
  const controlPlane = connectControlPlane({ servers: settings.servers, tlsCa: settings.tlsCa });
  const assignment = assignmentOf(
    settings.token || (await exchangeToken(controlPlane, settings.tokenFile, stop)).token,
  );
  const worker = await createWorker({ controlPlane, workerId, env, say, isForOne: true, first: input.first });
  const stopWorker = (): void => worker.stop('the agent was asked to stop');
  stop.addEventListener('abort', stopWorker);
  worker.accept(assignment);
  if (stop.aborted) stopWorker(); // aborted while the credential was requested
  const code = await new Promise<number>((resolve) => {
    const onLost = (): void => {
      worker.abandon();
      resolve(1);
    };
    worker.onIdle(() => resolve(0));
    watchContact({ controlPlane, say, onLost });
    giveUpAfterStop({ stop, say, onLost });
  });
  await worker.close();
  controlPlane.close();
  return code;
}

/** Reads the credential without verifying it. The control plane verifies it with every call. */
function assignmentOf(token: string): Assignment {
  try {
    const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as {
      sub: string;
      tenant_id: string;
      attempt: { dagId: string; taskId: string; mapIndex: number; tryNumber: number; versionNumber: number };
    };
    const { dagId, taskId, mapIndex, tryNumber, versionNumber } = payload.attempt;
    return {
      attempt_id: payload.sub,
      token,
      version_key: `${payload.tenant_id}/${versionNumber}/${dagId}`,
      dag_id: dagId,
      task_id: taskId,
      map_index: mapIndex,
      try_number: tryNumber,
    };
  } catch {
    throw new SettingsError('SVC_AGENT_TOKEN is no credential of an attempt: it is made by the control plane');
  }
}
