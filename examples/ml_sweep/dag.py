"""A machine-learning sweep in pure Python: nine models trained side by side, the best one draws what it has learnt.

The data are points in a ring and points within it. No straight line separates them: the sweep finds out that the
model needs squares. Look at the picture in the log of `draw`.
"""

from airflow.sdk import DAG, Param, task

with DAG(
    "ml_sweep",
    schedule=None,
    params={
        "points": Param(200, type="integer", minimum=50, maximum=2_000, title="Points"),
        "epochs": Param(60, type="integer", minimum=1, maximum=500, title="Epochs"),
    },
    tags=["example", "machine learning", "mapping"],
    doc_md=__doc__,
):

    @task
    def grid() -> list[dict]:
        """The Cartesian product of everything worth a try: one mapped task for each."""
        from itertools import product

        return [{"degree": degree, "rate": rate} for degree, rate in product((1, 2, 3), (0.03, 0.3, 1.0))]

    # At most four at a time, so that a sweep does not take the machine from everybody else.
    @task(map_index_template="degree {{ degree }}, rate {{ rate }}", max_active_tis_per_dagrun=4)
    def train(degree: int, rate: float, params: dict) -> dict:
        import model

        training = model.make_points(params["points"], seed="training")
        weights = model.fit(training, degree=degree, rate=rate, epochs=params["epochs"])
        # Judged by points it has never seen.
        score = model.accuracy(model.make_points(200, seed="test"), weights, degree)
        print(f"degree {degree}, rate {rate}: {score:.1%}")
        return {"degree": degree, "rate": rate, "score": score, "weights": weights}

    @task
    def choose(models: list[dict]) -> dict:
        ranked = sorted(models, key=lambda model: (-model["score"], model["degree"], model["rate"]))
        for model in ranked:
            print(f"{model['score']:>6.1%}  degree {model['degree']}, rate {model['rate']}")
        return ranked[0]

    @task
    def draw(best: dict) -> None:
        import model

        print(f"Degree {best['degree']} sees the world like this:")
        for line in model.picture(best["weights"], best["degree"]):
            print(line)

    # expand_kwargs takes a list of dicts: each one is the arguments of one instance.
    draw(choose(train.expand_kwargs(grid())))
