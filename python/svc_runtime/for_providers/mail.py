"""`airflow.utils.email`: mail over SMTP, by a connection or by the [smtp] settings."""

from __future__ import annotations

import os

from ..exceptions import AirflowException, RecordingError
from ..run.conf import conf


def get_email_address_list(addresses) -> list[str]:
    if isinstance(addresses, str):
        import re

        return [part.strip() for part in re.split(r"\s*[,;]\s*", addresses) if part.strip()]
    listed = list(addresses)
    if not all(isinstance(item, str) for item in listed):
        raise TypeError("The items in your iterable must be strings.")
    return listed


def build_mime_message(
    mail_from,
    to,
    subject: str,
    html_content: str,
    files=None,
    cc=None,
    bcc=None,
    mime_subtype: str = "mixed",
    mime_charset: str = "utf-8",
    custom_headers: dict | None = None,
):
    """The message, and everybody it goes to."""
    from email.mime.application import MIMEApplication
    from email.mime.multipart import MIMEMultipart
    from email.mime.text import MIMEText
    from email.utils import formatdate

    receivers = get_email_address_list(to)
    message = MIMEMultipart(mime_subtype)
    message["Subject"] = subject
    if mail_from:
        message["From"] = mail_from
    message["To"] = ", ".join(receivers)
    for others, header in ((cc, "CC"), (bcc, None)):
        if others:
            listed = get_email_address_list(others)
            receivers = receivers + listed
            if header:
                message[header] = ", ".join(listed)
    message["Date"] = formatdate(localtime=True)
    message.attach(MIMEText(html_content, "html", mime_charset))
    for name in files or ():
        base = os.path.basename(name)
        with open(name, "rb") as file:
            part = MIMEApplication(file.read(), Name=base)
        part["Content-Disposition"] = f'attachment; filename="{base}"'
        part["Content-ID"] = f"<{base}>"
        message.attach(part)
    for name, value in (custom_headers or {}).items():
        message[name] = value
    return message, receivers


def send_email(
    to,
    subject: str,
    html_content: str,
    files=None,
    dryrun: bool = False,
    cc=None,
    bcc=None,
    mime_subtype: str = "mixed",
    mime_charset: str = "utf-8",
    conn_id: str | None = None,
    custom_headers: dict | None = None,
    **kwargs,
) -> None:
    from ..run.helpers import import_string

    backend = import_string(conf.get("email", "email_backend"))
    more = {"conn_id": conn_id or conf.get("email", "email_conn_id", fallback="smtp_default"), **kwargs}
    parts = {"files": files, "dryrun": dryrun, "cc": cc, "bcc": bcc, "custom_headers": custom_headers}
    backend(to, subject, html_content, **parts, mime_subtype=mime_subtype, mime_charset=mime_charset, **more)


def send_email_smtp(
    to,
    subject: str,
    html_content: str,
    files=None,
    dryrun: bool = False,
    cc=None,
    bcc=None,
    mime_subtype: str = "mixed",
    mime_charset: str = "utf-8",
    conn_id: str = "smtp_default",
    from_email: str | None = None,
    custom_headers: dict | None = None,
    **kwargs,
) -> None:
    sender = from_email or conf.get("smtp", "smtp_mail_from", fallback=None)
    message, receivers = build_mime_message(
        sender, to, subject, html_content, files, cc, bcc, mime_subtype, mime_charset, custom_headers
    )
    send_mime_email(sender, receivers, message, conn_id=conn_id, dryrun=dryrun)


def send_mime_email(e_from, e_to, mime_msg, conn_id: str = "smtp_default", dryrun: bool = False) -> None:
    import smtplib

    server = _server(conn_id)
    if dryrun:
        return
    kind = smtplib.SMTP_SSL if server["ssl"] else smtplib.SMTP
    with kind(server["host"], server["port"], timeout=server["timeout"]) as smtp:
        if server["starttls"] and not server["ssl"]:
            smtp.starttls()
        if server["login"]:
            smtp.login(server["login"], server["password"] or "")
        smtp.sendmail(e_from, e_to, mime_msg.as_string())


def _server(conn_id: str) -> dict:
    """The connection's; where there is none, that of the settings."""
    from ..run.secrets import Connection

    settings = {
        "host": conf.get("smtp", "smtp_host", fallback=None),
        "port": conf.getint("smtp", "smtp_port", fallback=25),
        "login": conf.get("smtp", "smtp_user", fallback=None),
        "password": conf.get("smtp", "smtp_password", fallback=None),
        "starttls": conf.getboolean("smtp", "smtp_starttls", fallback=True),
        "ssl": conf.getboolean("smtp", "smtp_ssl", fallback=False),
        "timeout": conf.getint("smtp", "smtp_timeout", fallback=30),
    }
    try:
        connection = Connection.get(conn_id)
    except AirflowException:
        if settings["host"]:
            return settings
        raise RecordingError(
            f"send_email() has no mail server: there is no connection {conn_id!r} and no AIRFLOW__SMTP__SMTP_HOST",
            "Create the connection, use a notifier callback, or an SMTP provider hook",
        ) from None
    extra = connection.extra_dejson
    given = {"host": connection.host, "port": connection.port, "login": connection.login, "password": connection.password}
    switches = {"starttls": not extra.get("disable_tls", not settings["starttls"]), "ssl": not extra.get("disable_ssl", True)}
    return {**settings, **{name: value for name, value in given.items() if value}, **switches}
