/** Heartbeats: leases and credentials of a worker's attempts are renewed, and it learns which of them must stop. */
import type { Beat } from '@svc/proto/agent-service.ts';
import type { Attempts } from '../engine/shared/attempts.ts';
import type { AgentLog } from './collaborators.ts';
import type { AgentCredentials, VerifiedAttempt } from './credentials.ts';

type Tools = {
  attempts: Pick<Attempts, 'heartbeat' | 'lost'>;
  credentials: AgentCredentials;
  onAlive: (attemptId: string) => void;
  log: AgentLog;
};

const stopWith = (reason: string): Beat => ({ stop: true, reason, token: '' });

/** One answer for each credential, in the same order. Callbacks hold no lease: they only have their credential renewed. */
export async function answerHeartbeat(
  tools: Tools,
  { tokens, pids }: { tokens: readonly string[]; pids: readonly number[] },
): Promise<Beat[]> {
  const { attempts, credentials } = tools;
  const identities = await Promise.all(tokens.map((token) => credentials.verifyAttempt(token)));
  const tasks = identities.flatMap((identity, index) =>
    typeof identity === 'string' || identity.kind !== 'task' ? [] : [{ ...identity, pid: pids[index] || null }],
  );
  const stopping = tasks.length === 0 ? new Set<string>() : await attempts.heartbeat(tasks);
  return Promise.all(
    identities.map((identity): Beat | Promise<Beat> => {
      if (typeof identity === 'string') return stopWith(`the credential is ${identity}`);
      tools.onAlive(identity.attemptId);
      if (stopping.has(identity.attemptId)) return stopWith('the attempt is not the current one any more');
      return renewed(tools, identity);
    }),
  );
}

async function renewed({ attempts, credentials, log }: Tools, identity: VerifiedAttempt): Promise<Beat> {
  const token = await credentials.renewAttempt(identity);
  if (token !== 'outlived') return { stop: false, reason: '', token: token ?? '' };
  const { dagId, taskId, attemptId } = identity;
  log.warn({ dag: dagId, task: taskId, attempt: attemptId }, 'an attempt outlived its credential and is ended');
  if (identity.kind === 'task') await attempts.lost(identity, { cause: 'credential_expired' });
  return stopWith('the attempt outlived auth.max_attempt_credential_lifetime');
}
