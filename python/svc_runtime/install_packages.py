"""Installs what a project asks for, without Airflow: svc stands in for it.

    python install_packages.py [--python INTERPRETER] [--uv PROGRAM] [--leave-out] -- ENTRY...

An entry is one line of a requirements file. One that begins with `-c ` is a constraint; `--step` with its flags begins another
`pip install`, which may replace what the one before it installed. Any other entry that begins with a dash is refused, so that
no entry becomes an option. When the entries of a step carry hashes, all must, and exactly they are installed.

Provider packages depend on Airflow itself. Those dependencies are met by empty packages, made here, whose version no index
has: `apache-airflow==3.2.2+svc`. So nothing of Airflow is fetched, whatever drags it in, and whoever asks for its version
is told one. What Airflow brings along for its providers, they bring too, in the version that the entries allow.

With `--leave-out` a package that cannot be built does not keep the others from being installed: it is left out, and named.

Progress goes to standard output, a JSON object per line; so do packages that are left out and, at the end, why it failed and
which entry is to blame.
Standard error has the installer's own words. Runs alone, without our other modules.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from typing import NamedTuple

STAND_INS = {
    "apache-airflow": "3.2.2+svc",
    "apache-airflow-core": "3.2.2+svc",
    "apache-airflow-task-sdk": "1.2.2+svc",
    "apache-airflow-providers-standard": "1.99.0+svc",
}
# Airflow brings these along, and provider packages use them without asking for them. Without versions: the author's pins count.
_BROUGHT_ALONG = (
    "attrs",
    "croniter",
    "deprecated",
    "fsspec",
    "httpx",
    "jsonschema",
    "packaging",
    "psutil",
    "pydantic",
    "pyyaml",
    "requests",
    "sqlalchemy",
    "tabulate",
    "tenacity",
    "typing-extensions",
    "universal-pathlib",
)
_BRING = {"apache-airflow", "apache-airflow-core"}
_ABOUT = "Stands for what svc brings itself"
_KEPT_LINES = 400
_STEP = "--step"
# What a step may be told, and what uv calls it.
_FLAGS = {
    "--no-deps": "--no-deps",
    "--upgrade": "--upgrade",
    "--pre": "--prerelease=allow",
    "--force-reinstall": "--reinstall",
    "--no-build-isolation": "--no-build-isolation",
}
# Each one that is left out costs another attempt.
_MOST_LEFT_OUT = 10


class Refused(Exception):
    def __init__(self, message: str, entry: str | None = None, *, unbuilt: bool = False) -> None:
        super().__init__(message)
        self.entry = entry
        # A package could not be built: without it, the others may be installed.
        self.unbuilt = unbuilt


class Step(NamedTuple):
    flags: list[str]
    packages: list[str]
    constraints: list[str]


class Installer(NamedTuple):
    python: str
    # The program uv. None: pip installs.
    uv: str | None
    # The folder of the stand-ins.
    work: str
    is_last: bool


def normal_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(entry: str) -> str | None:
    egg = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", entry)
    found = egg or re.match(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[|[<>=!~;@ ]|$)", entry)
    return normal_name(found.group(1)) if found else None


def write_stand_ins(folder: str) -> None:
    """A wheel is a zip of a certain form. Without the time of day, so that they are always the same bytes."""
    for name, version in STAND_INS.items():
        stem = f"{name.replace('-', '_')}-{version}"
        info = f"{stem}.dist-info"
        needs = "".join(f"Requires-Dist: {package}\n" for package in _BROUGHT_ALONG if name in _BRING)
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {_ABOUT}\n{needs}",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
        }
        with zipfile.ZipFile(os.path.join(folder, f"{stem}-py3-none-any.whl"), "w") as wheel:
            for file, text in files.items():
                wheel.writestr(zipfile.ZipInfo(f"{info}/{file}", (1980, 1, 1, 0, 0, 0)), text)


def steps_of(entries: list[str]) -> list[Step]:
    """Steps without packages are left out."""
    steps = [Step([], [], [])]
    for entry in entries:
        if "\n" in entry or "\r" in entry:
            raise Refused("an entry is one line", entry)
        words = entry.split()
        if words[:1] == [_STEP] and all(word in _FLAGS for word in words[1:]):
            steps.append(Step(words[1:], [], []))
        elif entry.startswith("-c "):
            steps[-1].constraints.append(entry[3:].strip())
        elif entry.startswith("-"):
            raise Refused("it is no package: an entry must not begin with a dash", entry)
        else:
            steps[-1].packages.append(entry)
    return [step for step in steps if step.packages]


def pip_settings() -> dict[str, list[str]]:
    """What pip is told about where packages come from: uv does not read pip's files."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    found: dict[str, list[str]] = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        words = value.strip().strip("'\"").replace("\\n", " ").split()
        # Later lines are stronger: the environment comes after the files.
        found[key.rpartition(".")[2]] = words
    return found


def uv_command(uv: str, python: str, files: dict[str, str], *, is_last: bool) -> tuple[list[str], dict[str, str]]:
    """The last step compiles all that is installed. Python takes bytecode for that of a file with the same size and the
    same second of change, so an earlier step must leave no bytecode of a file that a later step replaces."""
    settings = pip_settings()
    environment = dict(os.environ)
    words = [uv, "pip", "install", "--python", python, "--link-mode", "copy"]
    words += ["--compile-bytecode"] if is_last else []
    words += ["--override", files["overrides"]]
    if not any(name in environment for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL")):
        for url in settings.get("index-url", [])[:1]:
            words += ["--default-index", url]
    if not any(name in environment for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL")):
        for url in settings.get("extra-index-url", []):
            words += ["--index", url]
        for place in settings.get("find-links", []):
            words += ["--find-links", place]
    for host in settings.get("trusted-host", []):
        words += ["--allow-insecure-host", host]
    if settings.get("cert"):
        environment.setdefault("SSL_CERT_FILE", settings["cert"][0])
    return words, environment


def pip_command(python: str, shared: str | None, files: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """`shared`: the folder of a pip that is not the interpreter's own, but installs for it."""
    flags = "--disable-pip-version-check --no-input --root-user-action=ignore --progress-bar=off".split()
    pip = [python, "-m", "pip"]
    if shared is not None:
        # What `pip --python` starts when pip has been loaded once only to say so.
        runner = os.path.join(shared, "__pip-runner__.py")
        pip = [python, runner] if os.path.exists(runner) else [sys.executable, "-m", "pip", "--python", python]
    return [*pip, "install", *flags, "--constraint", files["stand_ins"]], dict(os.environ)


def install(entries: list[str], python: str, uv: str | None, leave_out: bool = False) -> None:
    with tempfile.TemporaryDirectory(prefix="svc-install-") as work:
        write_stand_ins(work)
        steps = steps_of(entries)
        for step in steps:
            installer = Installer(python, uv, work, step is steps[-1])
            _install_step(step, installer, _MOST_LEFT_OUT if leave_out else 0)


def _install_step(step: Step, installer: Installer, may_leave_out: int) -> None:
    """Again without what cannot be built, as often as it may."""
    left = step
    while left.packages:
        try:
            _install_packages(left, installer)
            return
        except Refused as refused:
            if not refused.unbuilt or may_leave_out == 0 or refused.entry not in left.packages:
                raise
            may_leave_out -= 1
            say({"left_out": refused.entry, "why": str(refused)})
            left = step._replace(packages=[entry for entry in left.packages if entry != refused.entry])


def _install_packages(step: Step, installer: Installer) -> None:
    python, uv, work, is_last = installer
    pins = [f"{name}=={version}" for name, version in STAND_INS.items()]
    files = {
        name: _write(os.path.join(work, f"{name}.txt"), lines)
        for name, lines in {
            "packages": step.packages,
            "constraints": step.constraints,
            "overrides": pins,
            "stand_ins": pins,
        }.items()
    }
    if uv:
        words, environment = uv_command(uv, python, files, is_last=is_last)
    else:
        shared = _own_pip() if python != os.path.abspath(sys.executable) else None
        words, environment = pip_command(python, shared, files)
    words += ["--find-links", work, "-r", files["packages"]]
    if any("--hash=" in entry for entry in step.packages):
        # The list is the whole of it, so nothing is left to be met by ours, which have no hashes.
        at = words.index("--override" if uv else "--constraint")
        words = [*words[:at], *words[at + 2 :], "--require-hashes", "--no-deps"]
    else:
        words += [_FLAGS[flag] if uv else flag for flag in step.flags]
        if step.constraints:
            words += ["--constraint", files["constraints"]]
    _run(words, environment, work, step.packages)


def _write(path: str, lines: list[str]) -> str:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return path


def _own_pip() -> str | None:
    """The folder of this interpreter's. Looked for, not imported: that takes as long as installing a small package."""
    found = importlib.util.find_spec("pip")
    return found.submodule_search_locations[0] if found and found.submodule_search_locations else None


def _run(words: list[str], environment: dict[str, str], work: str, packages: list[str]) -> None:
    lines: list[str] = []
    with subprocess.Popen(
        words, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            lines = [*lines[-_KEPT_LINES:], line.rstrip()]
            sys.stderr.write(line)
            shown = progress_of(line)
            if shown:
                say({"progress": shown})
    if child.returncode != 0:
        raise explained("\n".join(lines), packages)


def progress_of(line: str) -> str | None:
    """What of the installer's words says how far it is."""
    for pattern, text in (
        (r"\s*Collecting ([^\s(]+)", "looking for {}"),
        (r"\s*Downloading (\S+?-[^-/]+)(?:-\S*)?(?:\.metadata)? \((.+)\)", "fetching {} ({})"),
        (r"\s*Building wheel for (\S+)", "building {}"),
        (r"Installing collected packages: (.+)", "installing {}"),
        (r"(?:Resolved|Prepared|Installed) (\d+ packages?) in", "{}"),
        (r"Bytecode compiled (\d+ files?) in", "compiled {}"),
        (r"\s*Downloading (\S+) \((.+)\)", "fetching {} ({})"),
        (r"\s*Building (\S+)", "building {}"),
    ):
        found = re.match(pattern, line)
        if found:
            return _shortened(text.format(*found.groups()))
    return None


def _shortened(text: str, length: int = 100) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def explained(output: str, packages: list[str]) -> Refused:
    """The installer's last words as one sentence, and the entry that it is about."""
    flat = re.sub(r"\s*\n\s*[│╰─▶×├]*\s*", " ", output)
    if re.search(
        r"Max retries exceeded|NewConnectionError|name resolution|Failed to (?:fetch|connect)|dns error", output
    ):
        return Refused("the package index cannot be reached", _entry_of(output, packages))
    if re.search(r"DO NOT MATCH THE HASHES|[Hh]ash mismatch", output):
        name = re.search(r"^\s+(\S+).*? from ", output, re.M) or re.search(r"for `?([\w.-]+)", output)
        return Refused("its content is not what the hash in the file says", _named(name, packages))
    if "require a hash" in output or "--require-hashes" in output:
        bare = next((entry for entry in packages if "--hash=" not in entry), None)
        return Refused("when one requirement has a hash, all need one, and an exact version", bare)
    built = _unbuilt_name(output)
    if built:
        entry = _entry_named(built, packages) or _brought_by(built, output, packages)
        whose = "it" if entry and name_of(entry) == normal_name(built) else f"{built}, which it needs,"
        why = f"{whose} has no ready package for this machine and cannot be built{_build_error(output)}"
        return Refused(why, entry or built, unbuilt=True)
    none = re.search(r"No matching distribution found for ([^\s(]+)", output)
    if none:
        versions = re.search(r"\(from versions: (.+?)\)", output)
        known = versions.group(1) if versions else "none"
        why = (
            "the package index has no such package"
            if known == "none"
            else f"there is no such version, only {_tail(known)}"
        )
        return Refused(why, _named(none, packages) or none.group(1))
    conflict = re.search(r"The conflict is caused by:(.+?)(?:To fix this|ERROR:|$)", output, re.S)
    if conflict:
        parts = "; ".join(part.strip() for part in conflict.group(1).splitlines() if part.strip())
        return Refused(f"the requirements do not go together: {parts}", _entry_of(conflict.group(1), packages))
    solution = re.search(r"No solution found when resolving dependencies:\s*(.+?)(?:\s+hint:|$)", flat)
    if solution:
        text = solution.group(1).strip().removeprefix("cause: ")
        return Refused(_shortened(text, 600), _entry_of(text, packages))
    invalid = re.search(r"Invalid requirement: '?([^'\n]+)", output)
    if invalid:
        return Refused("it is no requirement that pip understands", invalid.group(1).strip())
    last = [line.strip() for line in output.splitlines() if line.strip()]
    return Refused(last[-1] if last else "the installer said nothing", _entry_of(output, packages))


def _unbuilt_name(output: str) -> str | None:
    found = re.search(r"Failed (?:to (?:download and )?build|building wheel for) [`']?([\w.-]+)", output)
    if found:
        return found.group(1).rstrip(".")
    # pip asks a package what it needs before it builds it; the package was the last to be collected.
    if re.search(r"(?:subprocess-exited-with-error|metadata-generation-failed|Preparing metadata.*error)", output):
        collected = re.findall(r"^\s*(?:Collecting|Processing) ([^\s(;<>=!~\[]+)", output, re.M)
        return _file_name(collected[-1]) if collected else None
    return None


def _file_name(collected: str) -> str:
    """Of a folder or an archive, what its name says."""
    stem = os.path.basename(collected.rstrip("/"))
    return re.sub(r"-\d[^/]*$|\.(?:tar\.gz|zip|whl)$", "", stem)


# What the build of a package looks for, and the Debian package that has it.
_SYSTEM_PACKAGES = (
    (r"mysql_config|mysqlclient.*pkg-config|libmariadb", "default-libmysqlclient-dev, pkg-config"),
    (r"pg_config", "libpq-dev"),
    (r"sql\.h", "unixodbc-dev"),
    (r"lber\.h|ldap\.h|sasl\.h", "libldap2-dev, libsasl2-dev"),
    (r"gssapi|krb5", "libkrb5-dev"),
    (r"librdkafka", "librdkafka-dev"),
    (r"xmlsec", "libxmlsec1-dev, pkg-config"),
    (r"libxml|libxslt", "libxml2-dev, libxslt1-dev"),
    (r"ffi\.h", "libffi-dev"),
    (r"openssl/", "libssl-dev"),
    (r"geos_c\.h|gdal-config", "libgeos-dev, libgdal-dev"),
    (r"snappy", "libsnappy-dev"),
    (r"Python\.h", "python3-dev"),
    (r"can't find Rust compiler|cargo", "cargo"),
    (r"cmake.{0,40}not found|CMake must be installed", "cmake"),
    (r"command '?\S*(?:gcc|g\+\+|cc)'? failed: No such file|unable to execute '?\S*(?:gcc|g\+\+)", "build-essential"),
)


def _build_error(output: str) -> str:
    """The last words that speak of an error, and the system package that is probably missing."""
    said = [line.strip() for line in output.splitlines() if re.search(r"error|not found|No such file", line, re.I)]
    own = [
        line for line in said if not re.match(r"(?:ERROR: Failed|error: (?:subprocess|metadata)|note:|hint:|×|╰)", line)
    ]
    reason = f": {_shortened((own or said)[-1], 300)}" if said else ""
    missing = next((name for pattern, name in _SYSTEM_PACKAGES if re.search(pattern, output)), None)
    return reason + (f" (apt-get install {missing.replace(',', '')})" if missing else "")


def _brought_by(name: str, output: str, packages: list[str]) -> str | None:
    """The entry that asks for a package that is none itself."""
    wanted = re.escape(name).replace("\\-", "[-_.]").replace("_", "[-_.]")
    pip = re.search(rf"^\s*Collecting {wanted}\b[^\n]*\(from ([^\n]*)\)", output, re.M | re.I)
    uv = re.search(rf"`{wanted}`[^\n]*was included because `([\w.-]+)", output, re.I)
    chain = pip.group(1).split("->") if pip else [uv.group(1)] if uv else []
    # The nearest of the chain that is an entry; "-r packages.txt (line 3)" is at its end.
    for link in reversed(chain):
        entry = _entry_named(re.split(r"[\s=<>!~\[(]", link.strip())[0], packages)
        if entry:
            return entry
    return None


def _entry_named(name: str, packages: list[str]) -> str | None:
    return next((entry for entry in packages if name_of(entry) == normal_name(name)), None)


def _tail(versions: str) -> str:
    parts = versions.split(", ")
    return versions if len(parts) <= 5 else "…, " + ", ".join(parts[-5:])


def _named(found: re.Match | None, packages: list[str]) -> str | None:
    name = name_of(found.group(1)) if found else None
    return next((entry for entry in packages if name and name_of(entry) == name), None)


def _entry_of(text: str, packages: list[str]) -> str | None:
    """The first entry that is mentioned."""
    lower = normal_name(text)
    return next((entry for entry in packages if (name := name_of(entry)) and name in lower), None)


def say(event: dict) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    at = arguments.index("--")
    options, entries = arguments[:at], arguments[at + 1 :]

    def option(name: str) -> str | None:
        return options[options.index(name) + 1] if name in options else None

    try:
        python = os.path.abspath(option("--python") or sys.executable)
        install(entries, python, option("--uv"), "--leave-out" in options)
        return 0
    except Refused as refused:
        say({"failed": str(refused), "entry": refused.entry})
        return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
