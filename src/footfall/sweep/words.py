"""Numbers in sentences."""


def grouped(number: float) -> str:
    """40000 as 40 000."""
    return f"{number:,.0f}".replace(",", " ")


def counted(number: int, thing: str) -> str:
    """1 design, 40 000 designs."""
    return f"{grouped(number)} {thing}{'' if number == 1 else 's'}"
