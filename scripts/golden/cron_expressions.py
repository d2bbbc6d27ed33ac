"""Cron expressions: of every kind, made up, and what people write, get wrong, and argue about."""

from __future__ import annotations

import random

from timetable_recording import timetable

rng = random.Random(20260601)

DAILY = ["0 0 * * *", "30 1 * * *", "0 2 * * *", "30 2 * * *", "15 3 * * *", "59 23 * * *", "0 1,2,3 * * *", "@daily", "45 0 * * *"]
HOURLY = ["0 * * * *", "30 * * * *", "*/15 * * * *", "* * * * *", "@hourly", "7 */1 * * *", "0 0-23 * * *", "5,35 * * * *"]
PARTIAL = ["0 */2 * * *", "*/20 0-3 * * *", "30 1-3 * * *", "0 */6 * * *", "15 22-2 * * *", "*/30 2 * * *", "0 *,5 * * *", "10 0-12/3 * * *"]
WEEKLY = ["@weekly", "0 6 * * mon-fri", "30 2 * * sun", "0 0 * * 7", "0 12 * * 1,3,5", "0 3 * * 6-1", "0 4 * * */2"]
MONTHLY = ["@monthly", "@quarterly", "0 0 L * *", "0 0 * * 5#2", "30 2 * * L0", "0 9 15W * *", "0 0 31 * *", "0 0 1 */3 *", "0 7 1,L * *"]
MIXED = ["0 0 13 * 5", "30 2 */10 * 0", "0 0 1-7 * mon", "0 * 1 * *", "*/10 * 29 2 *", "0 0 29 2 *", "0 5 ? * 3"]
YEARLY = ["@yearly", "@annually", "0 0 29 2 *", "59 23 31 12 *", "0 0 1 1 0"]
SECONDS = ["* * * * * */20", "30 2 * * * 15", "0 0 * * * 30", "0 * * * * 5,35", "0 0 1 * * 0 *", "*/30 1-3 * * * 59"]
EXPRESSIONS = DAILY + HOURLY + PARTIAL + WEEKLY + MONTHLY + MIXED + YEARLY + SECONDS
PRESETS = ["@once", "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@quarterly", "@yearly", "@annually", "@DAILY", "@reboot", "@foo"]
# What people write, get wrong, and argue about.
HAND_PICKED = """
* * * * * | 0 0 ? * MON | ? ? ? ? ? | 5 4 ? * ? | 0 0 L-1 * * | 0 0 * * 5L | 0 0 * * L | 0 0 * * Lfri | 0 0 * * l5 | 0 0 l * *
0 0 * * 5#6 | 0 0 * * 5#0 | 0 0 * * fri#2 | 0 0 * * 5#2,1 | 0 0 * * 5#2,5 | 0 0 * * 5#2,5#3,1#1 | 0 0 * * L5,1#1 | 0 0 * * 1-3#2
0 0 1 * 1#1 | 0 0 1,2,3 * 1#2 | 0 0 10 * L1 | 0 0 15W * 1 | 0 0 15W * 1#1 | 0 0 1W * * | 0 0 31W * * | 0 0 LW * * | 0 0 1-5W * * | 0 0 15w * *
0 0 1,L * * | 0 0 1-L * * | 0 0 28-L * * | 0 0 L/2 * * | 0 0 31 2 * | 0 0 30 2 * | 0 0 29 2 * | 0 0 29 2 1 | 0 0 1-31 * 1 | 0 0 */1 * 1
0 0 *,5 * 1 | 0 0 10 * 0-6 | 0 0 10 * */1 | 0 0 */2 * */1 | 0 0 * * 7 | 0 0 * * 0-7 | 0 0 * * 5-7 | 0 0 * * 7-1 | 0 0 * * 6-1 | 0 0 * * 1-0
0 0 * * 1-07 | 0 0 * * 2-07/1 | 0 0 * * 6-2/2 | 0 0 * * fri-tue/2 | 0 0 30-5/3 * * | 0 22-3/2 * * * | 50-10 * * * * | 1-1 * * * * | 59/5 * * * *
0 0 5-0 * * | 0 0 0-5 * * | 0 0 5-32 * * | 0 0 * 11-2 * | 0 0 * nov-feb/2 * | 0 0 * 5-0 * | 0 0 * JAN,Feb * | 0 0 * * MON-FRI/2 | 5/15 * * * *
*/0 * * * * | */100 * * * * | */60 * * * * | 0 */24 * * * | 0 0 */32 * * | 0 0 * */13 * | 0 0 * * */8 | 1,2,,3 * * * * | ,1 * * * * | 1, * * * *
1-2-3 * * * * | 1/2/3 * * * * | -1 * * * * | +1 * * * * | 1.5 * * * * | 01 02 03 04 05 | 001 * * * * | 0 0 jan * * | mon * * * * | 0 0 * * tuesday
60 * * * * | 0 24 * * * | 0 0 0 * * | 0 0 32 * * | 0 0 * 0 * | 0 0 * 13 * | 0 0 * * 8 | *-5 * * * * | *,5 * * * * | */* * * * * | a * * * * | ~ * * * *
H * * * * | H/5 * * * * | h h * * * | 0 0 ?/2 * * | 0 0 1-5,? * * | */15,7 * * * * | 10-20,15-25 * * * * | 0 */5,7 * * * | 0 *,5 * * * | */5 9-17 * * 1-5
* * * * * * | * * * * * * * | 0 0 * * 7 0 | 0 0 0 * * 0 | 0 0 17-0 * * 0 | 0 0 0 * * 0 * | 0 0 * * 0 30 2027 | 0 0 1 1 * 0 2100 | 0 0 1 1 * 0 1969
1 2 3 4 5 6 7 8 | 1 2 3 4 | 0 0 1 1 1970 | 0 0 1 1 * 0 2026-2030/2 | 0 0 1 * * 60 | @reboot | @once | @foo | @Quarterly | @MIDNIGHT
"""


def random_expression() -> str:
    def field(low: int, high: int) -> str:
        kind = rng.random()
        a, b = sorted((rng.randint(low, high), rng.randint(low, high)))
        if kind < 0.35:
            return "*"
        if kind < 0.6:
            return str(a)
        if kind < 0.75:
            return f"*/{rng.choice([2, 3, 5, 7, 12])}"
        if kind < 0.9 and a != b:
            return f"{a}-{b}"
        return f"{a},{b}"

    return " ".join([field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)])


def is_valid(text: str) -> bool:
    try:
        timetable({"type": "cron_trigger", "expression": text, "timezone": "UTC"}).validate()
    except Exception:  # noqa: BLE001
        return False
    return True


def hand_picked() -> list[str]:
    return [text.strip() for text in HAND_PICKED.replace("\n", " | ").split(" | ") if text.strip()]


def wild_expression() -> str:
    """Anything that looks like cron, much of it wrong."""
    months = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    weekdays = "sun mon tue wed thu fri sat".split()

    def number(low: int, high: int, names: list[str]) -> str:
        if names and rng.random() < 0.3:
            return rng.choice(names)
        return str(rng.choice([low - 1, high + 1]) if rng.random() < 0.02 else rng.randint(low, high))

    def element(low: int, high: int, names: list[str], special: list[str]) -> str:
        one, other = number(low, high, names), number(low, high, names)
        step = rng.choice([1, 2, 3, 5, 7, 15, rng.randint(0, high + 3)])
        plain = ["*", f"*/{step}", one, one, f"{one}/{step}", f"{one}-{other}", f"{one}-{other}/{step}"]
        return rng.choice(special) if special and rng.random() < 0.1 else rng.choice(plain)

    def field(low: int, high: int, names: list[str] = [], special: list[str] = []) -> str:
        count = rng.choice([0, 0, 1, 1, 1, 1, 2, 3])
        return ",".join(element(low, high, names, special) for _ in range(count)) or "*"

    days = ["L", "l", "15W", "1W", "31W", "?", "1-L", "28-L", "5-L/3", "LW", "L-3"]
    fields = [
        field(0, 59),
        field(0, 23),
        field(1, 31, [], days),
        field(1, 12, months),
        field(0, 7, weekdays, ["L5", "l0", "5#2", "1#1", "fri#3", "7#5", "0#5", "L7", "?", "2#0", "5L"]),
    ]
    if rng.random() < 0.15:
        fields.append(field(0, 59))
        if rng.random() < 0.3:
            fields.append(rng.choice(["*", "2026", "2026-2030", "*/2", "2027,2029", "2030-2026/3"]))
    return " ".join(fields)


def described_expressions() -> list[str]:
    texts = EXPRESSIONS + PRESETS + hand_picked() + [wild_expression() for _ in range(400)] + [random_expression() for _ in range(300)]
    return [text for text in texts if is_valid(text)]
