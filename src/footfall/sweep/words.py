"""Numbers in sentences."""


def grouped(number: float) -> str:
    """40000 as 40 000."""
    return f"{number:,.0f}".replace(",", " ")


def counted(number: float, thing: str) -> str:
    """1 design, 40 000 designs, 13.5 steps."""
    shown = grouped(number) if number == round(number) else f"{number:g}"
    return f"{shown} {thing}{'' if number == 1 else 's'}"
