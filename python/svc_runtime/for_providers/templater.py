"""`Templater`: rendering for classes of providers that are not operators."""

from __future__ import annotations

from ..record.templating import render_fields, render_value


class Templater:
    template_fields = ()
    template_ext = ()

    def render_template(self, content, context, jinja_env=None, seen_oids=None):
        return render_value(self, content, context, jinja_env)

    def render_template_fields(self, context, jinja_env=None) -> None:
        render_fields(self, context, jinja_env)

    def prepare_template(self) -> None:
        """Called once before templates are rendered."""
