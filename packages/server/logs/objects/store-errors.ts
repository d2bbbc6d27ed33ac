/** Explains errors of the SDKs of object stores: what is wrong with which bucket, and what to do about it. */
import { ObjectStoreError } from './object-store.ts';
import type { ObjectStoreProblem } from './object-store.ts';

type Where = { kind: 'S3' | 'Google Cloud Storage'; bucket: string; permissions: string };

type Facts = { status: number | undefined; name: string; message: string };

const NO_BUCKET = new Set([
  'NoSuchBucket',
  'InvalidBucketName',
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);
const NO_CREDENTIALS =
  /could not load (?:the default )?credentials|credentialsprovidererror|credential is missing|region is missing|token.*expired|invalid_grant|enoent.*\.json|no such file|keyfile|invalid(?:_| )rapt|unable to detect a project/i;

export function explainStoreError(error: unknown, where: Where): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const facts = factsOf(error);
  const [problem, text] = verdict(facts, where);
  return new ObjectStoreError(problem, `the ${where.kind} bucket ${where.bucket} of task logs ${text}`, error);
}

function verdict(facts: Facts, { kind, permissions }: Where): [ObjectStoreProblem, string] {
  const { status, name, message } = facts;
  const said = [...new Set([name, message])]
    .filter((word) => word !== '')
    .join(': ')
    .slice(0, 300);
  if (name === 'NoSuchKey' || name === 'NotFound') return ['missing', 'does not have the object'];
  if (NO_BUCKET.has(name))
    return [
      'refused',
      `cannot be used (${said}): make it, or set logs.sink.bucket${kind === 'S3' ? ', logs.sink.region and logs.sink.endpoint' : ''} to what it is`,
    ];
  if (status === 412 || status === 409 || name === 'PreconditionFailed')
    return ['changed', `has another object there (${said})`];
  if (NO_CREDENTIALS.test(`${name} ${message}`))
    return [
      'refused',
      `cannot be opened for want of an identity (${said}): give this process one that the store knows, see docs/logs.md`,
    ];
  if (status === 401 || status === 403)
    return ['refused', `denies access (${said || status}): the identity of this process needs ${permissions} there`];
  if (status === 404)
    return ['refused', `does not exist (${said || status}): make it, or set logs.sink.bucket to one that does`];
  return [
    'away',
    `does not answer as it should (${said || `status ${status}`}): lines are kept in the database until it does`,
  ];
}

function factsOf(error: unknown): Facts {
  if (!(error instanceof Error)) return { status: undefined, name: '', message: String(error) };
  const { $metadata, code, status } = error as {
    $metadata?: { httpStatusCode?: number };
    code?: unknown;
    status?: unknown;
  };
  const number = [$metadata?.httpStatusCode, code, status].map(Number).find((value) => value >= 400 && value < 600);
  const word = typeof code === 'string' && number === undefined ? code : error.name === 'Error' ? '' : error.name;
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined)?.message : undefined;
  return { status: number, name: word, message: (error.message || inner || '').replaceAll(/\s+/g, ' ') };
}
