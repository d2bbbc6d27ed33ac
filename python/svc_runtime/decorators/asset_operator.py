"""The operator behind `@asset`: calls the function with the assets it reads and itself."""

from __future__ import annotations

from airflow.providers.standard.operators.python import PythonOperator


class _AssetMainOperator(PythonOperator):
    def __init__(self, *, definition_name: str, uri: str | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.definition_name = definition_name
        self.uri = uri

    def execute(self, context):
        import inspect

        outlets = {asset.name: asset for asset in self.outlets}
        values = {}
        for name, parameter in inspect.signature(self.python_callable).parameters.items():
            if name == "self":
                values[name] = outlets.get(self.definition_name)
            elif name == "context":
                values[name] = context
            elif name == "outlet_events":
                values[name] = context[name]
            elif parameter.default is not parameter.empty:
                values[name] = parameter.default
            else:
                values[name] = next((a for a in self.inlets if getattr(a, "name", None) == name), None)
        return self.python_callable(**values)


# The path Airflow users see for such tasks.
_AssetMainOperator.__module__ = "airflow.sdk.definitions.asset.decorators"
