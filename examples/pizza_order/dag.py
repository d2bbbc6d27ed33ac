"""A form from a few lines: press *Trigger* and order a pizza.

Each param is a JSON schema. The form is drawn from it, and every order, also one that comes through the API, is
checked against it before the run exists.
"""

from airflow.sdk import DAG, Param, task

PRICES = {"small": 7.5, "medium": 9.5, "family": 16.0}

with DAG(
    "pizza_order",
    schedule=None,
    tags=["example", "params"],
    doc_md=__doc__,
    params={
        "name": Param("Ada", type="string", minLength=1, maxLength=40, title="Your name"),
        "size": Param(
            "medium",
            type="string",
            enum=list(PRICES),
            # What people see, and what the DAG gets.
            values_display={size: f"{size} ({price:.2f} €)" for size, price in PRICES.items()},
            title="Size",
        ),
        "toppings": Param(
            ["mushrooms", "olives"],
            type="array",
            items={"type": "string"},
            examples=["artichokes", "capers", "mushrooms", "olives", "pineapple", "rocket"],
            title="Toppings",
            description_md="As many as you like. *Pineapple* is **not** judged here.",
        ),
        "how_many": Param(1, type="integer", minimum=1, maximum=10, title="How many", section="Delivery"),
        "express": Param(False, type="boolean", title="Express delivery (+ 3.00 €)", section="Delivery"),
        # A type with "null" in it makes a field that may stay empty.
        "deliver_on": Param(None, type=["null", "string"], format="date", title="On another day", section="Delivery"),
        "note": Param(
            None, type=["null", "string"], format="multiline", title="A word to the kitchen", section="Delivery"
        ),
    },
):

    @task
    def price(params: dict) -> float:
        each = PRICES[params["size"]] + 0.8 * len(params["toppings"])
        return round(each * params["how_many"] + (3.0 if params["express"] else 0.0), 2)

    @task
    def bake(params: dict) -> list[str]:
        pizza = f"{params['size']} pizza with {', '.join(params['toppings']) or 'nothing but cheese'}"
        if params["note"]:
            print(f"The guest says: {params['note']}")
        return [pizza] * params["how_many"]

    @task
    def receipt(pizzas: list[str], total: float, params: dict) -> None:
        print(f"For {params['name']}, {params['deliver_on'] or 'today'}")
        for pizza in pizzas:
            print(f"  🍕 {pizza}")
        print(f"  {total:.2f} €")

    receipt(bake(), price())
