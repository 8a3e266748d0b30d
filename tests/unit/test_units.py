"""Units at the door: what a file may write, what it becomes in SI, and how a wrong one is
answered.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footfall.numerics.units import UnitError, to_si

#: One multiplication by a factor that is itself rounded.
ROUNDING = 1e-15


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("0.26 m", "m", 0.26),
        ("26 cm", "m", 0.26),
        ("260mm", "m", 0.26),
        ("250 g", "kg", 0.25),
        ("2.46 kg", "kg", 2.46),
        ("5 ms", "s", 0.005),
        ("7 us", "s", 7e-6),
        ("2 min", "s", 120.0),
        ("4 deg", "rad", math.pi * 4 / 180),
        ("-18 deg", "rad", -math.pi / 10),
        ("0.5 turns", "rad", math.pi),
        ("180 degrees", "rad", math.pi),
        ("1 degree", "rad", math.pi / 180),
        ("90°", "rad", math.pi / 2),
        ("90 °", "rad", math.pi / 2),
        ("1 turn", "rad", 2 * math.pi),
        ("2 kN", "N", 2000.0),
        ("500 mA", "A", 0.5),
        ("12 V", "V", 12.0),
        ("80 mohm", "ohm", 0.08),
        ("1 kHz", "Hz", 1000.0),
        ("3 J", "J", 3.0),
        ("4 W", "W", 4.0),
    ],
)
def test_simple_units_become_si(text, unit, expected):
    assert to_si(text, unit) == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("400 N s/m", "N s/m", 400.0),
        ("0.4 kN s/m", "N s/m", 400.0),
        ("4 N s/cm", "N s/m", 400.0),
        ("40 N m/rad/s", "N m/rad/s", 40.0),
        ("1 N m/deg", "N m/rad", 180 / math.pi),
        ("1 Nm/rad", "N m/rad", 1.0),
        ("1 N m s/rad", "N m s/rad", 1.0),
        ("0.12 kg m^2", "kg m^2", 0.12),
        ("1200 kg cm^2", "kg m^2", 0.12),
        ("1200 kg*cm^2", "kg m^2", 0.12),
        ("981 cm/s^2", "m/s^2", 9.81),
        ("9.81 m s^-2", "m/s^2", 9.81),
        ("90 deg/s", "rad/s", math.pi / 2),
        ("1 turn/min", "rad/s", 2 * math.pi / 60),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("30 rpm/V", "rad/s/V", math.pi),
        ("180°/s", "rad/s", math.pi),
        ("34 N mm/A", "N m/A", 0.034),
        ("3 N/m^1.5", "N/m^1.5", 3.0),
        ("1 kN/cm^1.5", "N/m^1.5", 1e6),
    ],
)
def test_compound_units_become_si(text, unit, expected):
    assert to_si(text, unit) == pytest.approx(expected, rel=4 * ROUNDING)  # up to four factors


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("3 kg m/s^2", "N", 3.0),
        ("3 N m", "J", 3.0),
        ("3 J/s", "W", 3.0),
        ("3 V A", "W", 3.0),
        ("3 V/A", "ohm", 3.0),
        ("15 N/mm", "kg/s^2", 15000.0),
    ],
)
def test_derived_units_are_seen_to_be_the_same_dimension(text, unit, expected):
    assert to_si(text, unit) == pytest.approx(expected, rel=4 * ROUNDING)


@pytest.mark.parametrize("value", [3, 3.0, "3", " 3 ", "3.", "+3", "30e-1", "0.3E1"])
@pytest.mark.parametrize("unit", ["kg", "N s/m", ""])
def test_a_bare_number_is_taken_to_be_si(value, unit):
    si = to_si(value, unit)
    assert si == pytest.approx(3.0, rel=ROUNDING)
    assert type(si) is float


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("4 kg", "rad"),
        ("4 deg", "kg"),
        ("4 deg", "m"),
        ("4 m", ""),
        ("4 deg", ""),
        ("4 s", "Hz"),
        ("400 N m/s", "N s/m"),
        ("0.12 kg m", "kg m^2"),
        ("2 rad", "rad/s"),
    ],
)
def test_a_unit_of_another_kind_is_refused_with_what_came_and_what_is_needed(text, unit):
    with pytest.raises(UnitError) as caught:
        to_si(text, unit)
    given_unit = text.partition(" ")[2]
    assert f'"{text}" is in {given_unit}' in str(caught.value)
    assert (unit or "a plain number") in str(caught.value)
    assert "Write it like" in str(caught.value)


@pytest.mark.parametrize("text", ["4 furlong", "4 rpmm", "4 M", "4 kgm", "4 %"])
def test_an_unknown_unit_is_named(text):
    with pytest.raises(UnitError, match="not a unit"):
        to_si(text, "m")


def test_brackets_in_a_unit_are_answered_with_the_way_to_write_it():
    with pytest.raises(UnitError, match=r"without brackets, like"):
        to_si("1 N m/(rad/s)", "N m s/rad")


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "NaN kg",
        "inf",
        "-inf kg",
        "infinity",
        "",
        "   ",
        "kg",
        "ten kg",
        "--1 kg",
        "e5 kg",
        "0x10",
    ],
)
def test_text_that_is_no_number_is_refused(text):
    with pytest.raises(UnitError) as caught:
        to_si(text, "kg")
    assert "not a number" in str(caught.value) or "not a unit" in str(caught.value)


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_not_a_number(value):
    with pytest.raises(UnitError, match=f"expected a number in kg, got {str(value).lower()}"):
        to_si(value, "kg")


@pytest.mark.parametrize("value", [10**400, "1 mm^-999"], ids=["integer", "power of a unit"])
def test_a_number_beyond_floats_is_refused_like_any_other_bad_number(value):
    with pytest.raises(UnitError):
        to_si(value, "m")


@pytest.mark.parametrize(("text", "unit"), [("2 Hz", "rad/s"), ("100 rad/s", "Hz")])
def test_turns_per_second_and_radians_per_second_are_not_confused(text, unit):
    """Both are 1/s by dimension but differ by 2 pi.

    Either convert or refuse, never take one for the other.
    """
    try:
        value = to_si(text, unit)
    except UnitError:
        return
    number = float(text.partition(" ")[0])
    assert value == pytest.approx(
        number * 2 * math.pi if unit == "rad/s" else number / (2 * math.pi)
    )


@given(
    st.floats(-1e12, 1e12),
    st.sampled_from(
        [("cm", "m", 0.01), ("g", "kg", 0.001), ("min", "s", 60.0), ("kN", "N", 1000.0)]
    ),
)
def test_any_number_written_out_with_a_unit_is_scaled(number, units):
    unit, si, factor = units
    assert to_si(f"{number!r} {unit}", si) == pytest.approx(
        number * factor, rel=2 * ROUNDING, abs=1e-320
    )
