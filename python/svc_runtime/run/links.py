"""Links that an operator adds to its task instances, made when the task has ended: only its own code knows where they lead."""

from __future__ import annotations

import logging

from ..record.operator import BaseOperatorLink
from .logs import say


def values_of_links(task, ti) -> list:
    """As values of the task, under the key of each; one that cannot be made fails nothing."""
    found = []
    for link in task.operator_extra_links:
        make = getattr(type(link), "get_link", None)
        if make in (None, BaseOperatorLink.get_link):
            continue
        try:
            address = link.get_link(operator=task, ti_key=ti.key)
            if address:
                found.append(ti.xcoms.values.plain_entry(link.xcom_key, str(address)))
        except Exception as error:  # the provider's code
            say(f"The link {link.name!r} cannot be made: {error}", level=logging.WARNING)
    return found
