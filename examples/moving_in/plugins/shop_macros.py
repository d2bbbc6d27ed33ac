"""Macros for templates: {{ macros.shop.euros(1250) }}."""

from airflow.plugins_manager import AirflowPlugin
from shop_money import euros


class ShopPlugin(AirflowPlugin):
    name = "shop"
    macros = [euros]
