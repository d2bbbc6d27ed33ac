"""An image that cannot be pulled. There is no cluster here: an operator stands for the real one, with messages written after those of a kubelet."""

from airflow.sdk import DAG, BaseOperator, task


class AirflowPodLaunchFailed(Exception):
    """As the provider's operator raises it."""


class PodOperator(BaseOperator):
    def __init__(self, *, image: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.image = image

    def execute(self, context) -> None:
        pod = "score-model-x7k2q"
        self.log.info("Building pod %s with labels: {'dag_id': 'kubernetes_image'}", pod)
        for _ in range(3):
            self.log.info("Pod %s has phase Pending", pod)
        self.log.warning(
            'Failed to pull image "%s": rpc error: code = NotFound desc = failed to pull and unpack image "%s": '
            "failed to resolve reference: %s: not found",
            self.image,
            self.image,
            self.image,
        )
        self.log.warning('Error: ErrImagePull: Back-off pulling image "%s"', self.image)
        raise AirflowPodLaunchFailed(
            f"Pod {pod} docker image cannot be pulled, unable to start: ImagePullBackOff\n"
            f'Back-off pulling image "{self.image}"'
        )


with DAG("kubernetes_image", schedule=None):
    score = PodOperator(task_id="score", image="registry.example.com/ml/score:2.41")

    @task
    def publish() -> None:
        print("published")

    score >> publish()
