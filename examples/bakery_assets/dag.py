"""DAGs that follow data instead of the clock: the oven bakes, and the shop opens when bread *and* cake are there.

An asset is the name of some data. A task that lists it under `outlets` updates it when it succeeds; a DAG whose
`schedule` names assets runs when they were updated. Trigger `bakery_oven` and watch `bakery_shop` start by itself.
"""

from airflow.sdk import DAG, Asset, task

bread = Asset("bread", uri="file:///bakery/bread", group="bakery")
cake = Asset("cake", uri="file:///bakery/cake", group="bakery")

with DAG("bakery_oven", schedule=None, tags=["example", "assets"], doc_md=__doc__):

    @task(outlets=[bread])
    def bake_bread(*, outlet_events) -> None:
        # An event can carry a few facts about what is new. Whoever is woken by it can read them.
        outlet_events[bread].extra = {"loaves": 12}
        print("🍞 × 12")

    @task(outlets=[cake])
    def bake_cake(*, outlet_events) -> None:
        outlet_events[cake].extra = {"slices": 8}
        print("🍰 × 8")

    bake_bread() >> bake_cake()

# A list means all of them. `bread | cake` would mean either.
with DAG("bakery_shop", schedule=[bread, cake], tags=["example", "assets"], doc_md=__doc__):

    @task
    def open_shop(*, triggering_asset_events) -> dict:
        """What is on the shelf, from the events that made this run. Triggered by hand there are none."""
        shelf: dict = {}
        for asset, events in triggering_asset_events.items():
            for event in events:
                print(f"{asset.name}: {event.extra}, baked by {event.source_dag_id}.{event.source_task_id}")
                shelf.update(event.extra)
        return shelf

    @task
    def sell(shelf: dict) -> str:
        sign = f"Today: {shelf['loaves']} loaves, {shelf['slices']} slices" if shelf else "Sold out, come back tomorrow"
        print(sign)
        return sign

    sell(open_shop())
