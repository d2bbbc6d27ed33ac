"""Amounts in cents, so that sums are exact."""


def cents(amount: str) -> int:
    euros, _, rest = amount.partition(".")
    return int(euros) * 100 + int(rest.ljust(2, "0")[:2] or 0)


def euros(amount: int) -> str:
    return f"{amount // 100}.{amount % 100:02}"
