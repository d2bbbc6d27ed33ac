"""Exceptions under the names DAG files catch and raise, plus our own recording error."""

from __future__ import annotations


class AirflowException(Exception):
    """Base of everything a task or DAG file may raise on purpose."""

    status_code = 500


class RecordingError(AirflowException):
    """Something in a DAG file that cannot become part of a compiled spec.

    `what` names the construct, `instead` tells the author what to write; the compiler adds file and line.
    """

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(f"{what}. {instead}" if instead else what)
        self.what = what
        self.instead = instead


class AirflowNotFoundException(AirflowException): ...


class AirflowConfigException(AirflowException): ...


class ExternalSecretsFailed(AirflowException):
    """The operator's store could not be asked, and the built-in vault has nothing. Not the same as: there is none."""


class AirflowSensorTimeout(AirflowException): ...


class AirflowFailException(AirflowException): ...


class AirflowSkipException(AirflowException): ...


class AirflowBadRequest(AirflowException): ...


class AirflowDagCycleException(AirflowException): ...


class AirflowDagDuplicatedIdException(AirflowException): ...


class AirflowDagInconsistent(AirflowException): ...


class AirflowClusterPolicyViolation(AirflowException): ...


class AirflowClusterPolicySkipDag(AirflowException): ...


class AirflowTimetableInvalid(AirflowException): ...


class AirflowOptionalProviderFeatureException(AirflowException): ...


class AirflowInactiveAssetInInletOrOutletException(AirflowException): ...


class DagNotFound(AirflowNotFoundException): ...


class DagRunNotFound(AirflowNotFoundException): ...


class DagRunAlreadyExists(AirflowBadRequest): ...


class TaskNotFound(AirflowNotFoundException): ...


class TaskInstanceNotFound(AirflowNotFoundException): ...


class VariableNotUnique(AirflowException): ...


class ConnectionNotUnique(AirflowException): ...


class PoolNotFound(AirflowNotFoundException): ...


class DuplicateTaskIdFound(AirflowException): ...


class TaskAlreadyInTaskGroup(AirflowException): ...


class FailFastDagInvalidTriggerRule(AirflowException): ...


class ParamValidationError(AirflowException): ...


class XComNotFound(AirflowException): ...


class UnmappableOperator(AirflowException): ...


class XComForMappingNotPushed(TypeError): ...


class UnmappableXComTypePushed(TypeError): ...


class AirflowExternalTaskSensorException(AirflowException): ...


class ExternalDagNotFoundError(AirflowExternalTaskSensorException): ...


class ExternalDagDeletedError(AirflowExternalTaskSensorException): ...


class ExternalTaskNotFoundError(AirflowExternalTaskSensorException): ...


class ExternalTaskFailedError(AirflowExternalTaskSensorException): ...


class ExternalDagFailedError(AirflowExternalTaskSensorException): ...


class ExternalTaskGroupNotFoundError(AirflowExternalTaskSensorException): ...


class ExternalTaskGroupFailedError(AirflowExternalTaskSensorException): ...


class DuplicateStateError(AirflowExternalTaskSensorException): ...


class AirflowTaskTimeout(BaseException):
    """Not an Exception: a task's own `except Exception` must not swallow its timeout."""


class AirflowTaskTerminated(BaseException): ...


class AirflowRescheduleException(AirflowException):
    """A sensor in reschedule mode gives its slot back until `reschedule_date`."""

    def __init__(self, reschedule_date) -> None:
        super().__init__()
        self.reschedule_date = reschedule_date


class HITLTimeoutError(AirflowException):
    """Nobody answered the question of a task in time."""


class HITLRejectException(AirflowException):
    """An approval was refused, and the task is to fail then."""


class HITLTriggerEventError(AirflowException):
    """The answer to the question of a task cannot be used."""


class DownstreamTasksSkipped(AirflowException):
    """A branch or short circuit decided which direct downstream tasks to skip."""

    def __init__(self, *, tasks) -> None:
        super().__init__()
        self.tasks = tasks


class TaskDeferred(BaseException):
    """An operator asked to be resumed by a trigger."""

    def __init__(self, *, trigger, method_name: str, kwargs=None, timeout=None) -> None:
        super().__init__()
        self.trigger = trigger
        self.method_name = method_name
        self.kwargs = kwargs
        self.timeout = timeout


class TaskDeferralError(AirflowException): ...


class TaskDeferralTimeout(AirflowException): ...


class DagRunTriggerException(AirflowException):
    """TriggerDagRunOperator hands its request to the runner through this, with all fields as attributes."""

    def __init__(self, **request) -> None:
        super().__init__()
        self.__dict__.update(request)


class NodeNotFound(AirflowNotFoundException): ...


class RemovedInAirflow3Warning(DeprecationWarning): ...


class RemovedInAirflow4Warning(DeprecationWarning): ...


class AirflowProviderDeprecationWarning(DeprecationWarning): ...


class AirflowRuntimeError(AirflowException): ...


class AirflowInternalRuntimeError(BaseException): ...


class AirflowSecretsBackendAccessDenied(AirflowException): ...


class AirflowClusterPolicyError(AirflowException): ...


class AirflowFileParseException(AirflowException): ...


class AirflowUnsupportedFileTypeException(AirflowException): ...


class AirflowClearRunningTaskException(AirflowException): ...


class DagCodeNotFound(AirflowNotFoundException): ...


class NotMapped(Exception):
    """A task that is asked for its mapping and has none."""


class SerializationError(AirflowException): ...


class DeserializationError(Exception): ...


class DeserializingResultError(ValueError): ...


class InvalidStatsNameException(AirflowException): ...


class UnknownExecutorException(ValueError): ...


class TaskAlreadyRunningError(AirflowException): ...


class PodMutationHookException(AirflowException): ...


class PodReconciliationError(AirflowException): ...
