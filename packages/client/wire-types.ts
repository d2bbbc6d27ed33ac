/** The schemas of the API under short names. */
import type { components } from './generated/api.ts';

type Schemas = components['schemas'];

export type Alert = Schemas['Alert'];
export type AlertRule = Schemas['AlertRule'];
export type Backfill = Schemas['Backfill'];
export type BackfillCreate = Schemas['BackfillCreate'];
export type BackfillDryRun = Schemas['BackfillDryRun'];
export type Bundle = Schemas['Bundle'];
export type BundleUpdate = Schemas['BundleUpdate'];
export type BulkResponse = Schemas['BulkResponse'];
export type ClearTaskInstances = Schemas['ClearTaskInstancesBody'];
export type Connection = Schemas['Connection'];
export type ConnectionBody = Schemas['ConnectionBody'];
export type Dag = Schemas['DAG'];
export type RunDiagnosis = Schemas['RunDiagnosis'];
export type DagDetails = Schemas['DAGDetails'];
export type DagRun = Schemas['DAGRun'];
export type DagRunCreate = Schemas['DAGRunCreate'];
export type Deployment = Schemas['Deployment'];
export type ListedDeployment = Schemas['ListedDeployment'];
export type IssuedServiceAccount = Schemas['IssuedServiceAccount'];
export type ImportError = Schemas['ImportError'];
export type NewServiceAccount = Schemas['CreateServiceAccountRequest'];
export type Pool = Schemas['Pool'];
export type ServiceAccount = Schemas['ServiceAccount'];
export type TaskDependency = Schemas['TaskDependency'];
export type TaskInstance = Schemas['TaskInstance'];
export type TaskInstanceTry = Schemas['TaskInstanceHistory'];
export type Tenant = Schemas['Tenant'];
export type Token = Schemas['TokenResponse'];
export type User = Schemas['User'];
export type UserUpdate = Schemas['UpdateUserRequest'];
export type Variable = Schemas['Variable'];
export type Worker = Schemas['Worker'];
export type WorkerToken = Schemas['WorkerToken'];
export type IssuedWorkerToken = Schemas['IssuedWorkerToken'];
