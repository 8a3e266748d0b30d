"""Frames between high and mid level.

The specification's table, and what no bytes whatever may do. Python's reader and the firmware's.
"""

import dataclasses
import functools
import itertools
import math
import operator
import random
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from footfall.machines.control import decimal_text
from footfall.machines.control.driver_lines import (
    by_board,
    current_lines,
    line_checksum,
    strip_checksum,
    with_checksum,
)
from footfall.machines.control.framing import (
    FrameReader,
    down_format,
    encode,
    sensor_format,
    up_format,
)
from support import firmware
from support.stack_cases import EVERY, ONE_MOTOR, PLAIN, ROBOT

READERS = {"Python": FrameReader, "C": firmware.FirmwareReader}
both_readers = pytest.mark.parametrize("reader_of", READERS.values(), ids=READERS)
V1, V2 = down_format(PLAIN), down_format(ROBOT)  # without checksum, with

#: Mostly what frames are made of, so that most of what is drawn gets past the first byte.
PIECES = st.one_of(
    st.sampled_from(
        [
            b"<",
            b">",
            b"*",
            b",",
            b"0.6",
            b"1",
            b"-",
            b".5",
            b"e",
            b"E",
            b"*3F",
            b"<0.6,1,0.5>",
            b"<0.1,0,0.2,3*",
            b"nan",
            b"x",
        ]
    ),
    st.binary(max_size=3),
    st.builds(
        lambda values: encode(V2, values),
        st.tuples(*(st.floats(-1, 1), st.booleans(), st.floats(-3, 3), st.floats(-5, 5))),
    ),
    st.builds(
        lambda payload: (
            b"<"
            + payload.encode()
            + b"*%02X>" % functools.reduce(operator.xor, payload.encode(), 0)
        ),
        st.text("0123456789+-.,eE", max_size=50),
    ),
)
BYTES = st.lists(PIECES, max_size=12).map(b"".join)

# The table of section 4, and next to it what the words around it say.
TABLE = [
    ([b"<0.6,1,0.5>"], [(0.6, 1.0, 0.5)], 0),
    ([b"<0.6,1,", b"0.5>"], [(0.6, 1.0, 0.5)], 0),
    ([b"0.6,1,0.5>"], [], 0),
    ([b"<0.6,1,<0.7,1,0.5>"], [(0.7, 1.0, 0.5)], 1),
    ([b"<0.6,1>"], [], 1),
    ([b"<0.6,1,0.5,9>"], [], 1),
    ([b"<0.6,2,0.5>"], [], 1),
    ([b"<0.6,1,>"], [], 1),
    ([b"<0.6,1,nan>"], [], 1),
    ([b"<0.6,1,0.5x>"], [], 1),
    ([b"<>"], [], 1),
    ([b"<" + b"1" * 60], [], 1),
    ([b"<0.6,1,0.5><0.7,0,0.4>"], [(0.6, 1.0, 0.5), (0.7, 0.0, 0.4)], 0),
    (
        [b"<0.6,1.0,0.5>", b"<0.6,+1,0.5>", b"<0.6,01,0.5>", b"<0.6,,0.5>"],
        [],
        4,
    ),  # the flag is exactly 0 or 1
    ([b"<0.6,1,inf>", b"<0.6,1,1e999>", b"<0.6,1,1_0>", b"<0.6,1, 0.5>", b"<0.6,1,0x1>"], [], 5),
    (
        [
            b"<0.6,1,.>",
            b"<0.6,1,->",
            b"<0.6,1,1e>",
            b"<0.6,1,e1>",
            b"<0.6,1,1e+>",
            b"<0.6,1,--1>",
            b"<0.6,1,1-1>",
        ],
        [],
        7,
    ),
    ([b"<+.6,1,-5.e-1>"], [(0.6, 1.0, -0.5)], 0),
    ([b"<0.6,1,1e-400>"], [(0.6, 1.0, 0.0)], 0),  # tiny is a number
    ([b"<0.6,1,3.1416>", b"<1.5708,1,0>", b"<-1.5708,1,0>"], [], 3),
    ([b"<0.6,1,0.5*00>"], [], 1),  # a checksum where none was agreed on
    ([b"<<<0.6,1,0.5>"], [(0.6, 1.0, 0.5)], 2),
    ([b"<0.6,1,0.5\x00>", b"\xff<0.6,1,0.5\n>"], [], 2),
]


@both_readers
@pytest.mark.parametrize(("pieces", "frames", "rejected"), TABLE)
def test_what_the_table_of_the_specification_says(reader_of, pieces, frames, rejected):
    reader = reader_of(V1)
    assert [frame for piece in pieces for frame in reader.feed(piece)] == frames
    assert (reader.accepted, reader.rejected) == (len(frames), rejected)


@both_readers
def test_a_frame_too_long_is_rejected_at_its_49th_byte_and_not_before(reader_of):
    reader = reader_of(V1)
    reader.feed(b"<" + b"1" * 48)
    assert reader.rejected == 0
    reader.feed(b"1")
    assert reader.rejected == 1
    assert reader.feed(b"1,1,1>") == []
    assert reader.rejected == 1, "it is idle: the rest belongs to no frame"


@both_readers
@pytest.mark.parametrize("form", [V1, V2], ids=["no checksum", "checksum"])
def test_48_bytes_of_payload_are_not_too_long_whether_a_checksum_follows_or_not(reader_of, form):
    fields = b"0.5,1,0.5" + b",0" * (len(form.fields) - 3)
    payload = b"0" * (48 - len(fields)) + fields
    sum_of = functools.reduce(operator.xor, payload)
    reader = reader_of(form)
    assert (
        len(reader.feed(b"<" + payload + (b"*%02X" % sum_of if form.checksum else b"") + b">")) == 1
    )


@both_readers
def test_the_specifications_example_has_the_right_checksum(reader_of):
    reader = reader_of(down_format(PLAIN)._replace(checksum=True))
    assert reader.feed(b"<0.600000,1,0.587310*3F>") == [(0.6, 1.0, 0.58731)]


@both_readers
@pytest.mark.parametrize(
    "frame",
    [
        b"<0.600000,1,0.587310>",  # required
        b"<0.600000,1,0.587310*>",
        b"<0.600000,1,0.587310*3>",
        b"<0.600000,1,0.587310*3f>",  # lower case
        b"<0.600000,1,0.587310*03F>",
        b"<0.600000,1,0.587310*3F*3F>",
        b"<0.600000,1,0.587310*3E>",
        b"<0.600000,1,0.58731*3F0>",
        b"<*3F0.600000,1,0.587310>",
        b"<0.600000,1,0.58731A*3F>",
    ],
)
def test_a_checksum_that_is_missing_wrong_or_out_of_place_costs_the_frame(reader_of, frame):
    reader = reader_of(down_format(PLAIN)._replace(checksum=True))
    assert reader.feed(frame) == []
    assert reader.rejected == 1


@both_readers
@pytest.mark.parametrize("tail", [b"*", b"*3"])
def test_the_checksum_of_the_frame_before_does_not_serve_for_the_next(reader_of, tail):
    reader = reader_of(down_format(PLAIN)._replace(checksum=True))
    reader.feed(b"<0.600000,1,0.587310*3F>")
    assert reader.feed(b"<0.600000,1,0.587310" + tail + b">") == []


@given(
    BYTES,
    st.lists(st.integers(0, 80), max_size=6),
    st.sampled_from([V1, V2, up_format(ROBOT), sensor_format(ONE_MOTOR)]),
)
@settings(max_examples=300)
def test_any_bytes_in_any_pieces_give_the_same_frames_and_counts_in_python_and_in_c(
    data, cuts, form
):
    whole = FrameReader(form)
    frames = whole.feed(data)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for reader in (FrameReader(form), firmware.FirmwareReader(form)):
        pieces = [reader.feed(data[a:b]) for a, b in itertools.pairwise(edges)]
        assert list(itertools.chain(*pieces)) == frames
        assert (reader.accepted, reader.rejected) == (whole.accepted, whole.rejected)
    assert whole.accepted + whole.rejected <= data.count(b"<"), (
        "only what was begun is counted, and once"
    )
    for frame in frames:
        assert all(
            math.isfinite(value) and abs(value) <= field.limit
            for field, value in zip(form.fields, frame, strict=True)
        )


@given(st.text("0123456789+-.eE", max_size=48).map(str.encode))
@example(b"0.59999999999999998")
@example(b"2.2250738585072011e-308")
@example(b"9007199254740993")
@example(b"4.9406564584124654e-324")
@example(b"1.7976931348623159e308")
@settings(max_examples=1000)
def test_the_grammar_of_numbers_is_the_same_in_python_and_in_c_and_so_is_every_value(text):
    ours, theirs = decimal_text.number(text), firmware.number(text)
    assert ours == theirs
    assert ours is None or math.copysign(1, ours) == math.copysign(1, theirs)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from([4, 6]))
@example(0.5 * 2**-4, 4)  # 0.03125: a tie, to even
@example(3 * 2.0**-5, 4)
@example(-1e-8, 6)
@example(-0.0, 4)
@example(999999.9375, 4)
@settings(max_examples=1000)
def test_numbers_are_written_to_the_same_bytes_in_python_and_in_c(value, decimals):
    # Below the largest that is written, and again a number of single precision.
    value = math.fmod(value, 2.0**29)
    text = decimal_text.fixed(np.float32(value), decimals)
    assert firmware.fixed(value, decimals) == text
    # Half a unit, exactly.
    assert abs(Fraction(text.decode()) - Fraction(value)) <= Fraction(1, 2 * 10**decimals)
    assert not (text.startswith(b"-") and float(text) == 0)


VALUES = st.tuples(st.floats(-1.57, 1.57), st.booleans(), st.floats(-3.14, 3.14), st.floats(-5, 5))


@given(VALUES)
def test_what_is_encoded_is_read_back_to_half_a_millionth(values):
    frame = encode(V2, values)
    (read,) = FrameReader(V2).feed(frame)
    assert read == pytest.approx([float(value) for value in values], abs=0.5e-6 + 1e-12)
    # Fixed notation: no exponent, no nan.
    assert set(frame.partition(b"*")[0]) <= set(b"<0123456789-.,")


@pytest.mark.parametrize("name", EVERY)
def test_every_limit_itself_can_be_sent_and_is_accepted(name):
    """pi is sent as 3.141593, which is more than pi; a saturated output in single precision may be
    more than its limit in double.
    """
    for form in (down_format(EVERY[name]), up_format(EVERY[name]), sensor_format(EVERY[name])):
        for sign in (1.0, -1.0):
            limits = [1.0 if field.flag else sign * field.limit for field in form.fields]
            assert len(FrameReader(form).feed(encode(form, limits))) == 1
    limit = EVERY[name].gains.output_limit
    for value in (limit, np.float32(limit), math.pi if name == "robot" else limit):
        form = sensor_format(ROBOT) if value == math.pi else up_format(EVERY[name])
        assert len(FrameReader(form).feed(encode(form, (value,)))) == 1


def test_a_sender_that_holds_its_limit_in_single_precision_is_not_rejected_at_it():
    form = up_format(dataclasses.replace(ROBOT, gains=ROBOT.gains._replace(output_limit=100.3)))
    # Three millionths above.
    assert FrameReader(form).feed(encode(form, (np.float32(100.3),))) == [(100.300003,)]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.6, 1, math.nan, 0), "pitch = nan cannot be sent"),
        ((math.inf, 1, 0.5, 0), "setpoint = inf cannot be sent"),
        ((0.6, 2, 0.5, 0), "setpoint_on = 2 cannot be sent: it is a flag"),
        ((0.6, math.nan, 0.5, 0), "it is a flag"),
        ((0.6, 1, 3.2, 0), "a finite number of size at most 3.141593"),
        ((0.6, 1, 0.5, -5.1), "steer_current = -5.1"),
        ((0.6, 1, 0.5), "takes 4 values, 3 came"),
    ],
)
def test_what_the_other_end_would_reject_is_not_sent(values, words):
    with pytest.raises(ValueError, match=words):
        encode(V2, values)


def test_limits_too_large_for_a_frame_are_noticed_when_it_is_written():
    form = V2._replace(
        fields=tuple(field if field.flag else field._replace(limit=1e8) for field in V2.fields)
    )
    with pytest.raises(ValueError, match="at most 48 are read"):
        encode(form, (-1e8, 1, -1e8, -1e8))


def test_of_all_alterations_of_one_byte_none_is_accepted_as_other_values_but_a_start_sign_after_a_part_that_sums_to_zero():
    """A new `<` cuts off what came before it; if that sums to zero (such as `-0.3`), the checksum
    cannot tell. Nothing else passes.
    """
    passed = []
    for values in ((0.6, 1, 0.58731, 0.0), (-0.3, 1, -0.25, 1.5), (0.6, 0, 3.1, -5.0)):
        frame = encode(V2, values)
        (true,) = FrameReader(V2).feed(frame)
        for place, byte in itertools.product(range(len(frame)), range(256)):
            altered = frame[:place] + bytes([byte]) + frame[place + 1 :]
            passed += [
                (frame, place, byte) for read in FrameReader(V2).feed(altered) if read != true
            ]
    assert all(
        byte == ord("<") and functools.reduce(operator.xor, frame[1 : place + 1]) == 0
        for frame, place, byte in passed
    )
    assert len(passed) == 3  # <-0.<00000,... and two like it, of 26 000 alterations


@pytest.mark.parametrize("altered_bytes", [2, 3, 5, 12])
def test_frames_with_several_altered_bytes_pass_no_more_often_than_the_checksums_chance(
    altered_bytes,
):
    """Each altered byte becomes any other with equal chance.

    Were every altered frame well-formed, the checksum would pass 1 in 256.
    """
    frames, passed, draw = 20_000, 0, random.Random(altered_bytes)
    form = V2
    for _ in range(frames):
        frame = bytearray(
            encode(
                form,
                (
                    draw.uniform(-1, 1),
                    draw.random() < 0.5,
                    draw.uniform(-1, 1),
                    draw.uniform(-5, 5),
                ),
            )
        )
        (true,) = FrameReader(form).feed(bytes(frame))
        for place in draw.sample(range(len(frame)), altered_bytes):
            frame[place] ^= draw.randrange(1, 256)
        passed += any(read != true for read in FrameReader(form).feed(bytes(frame)))
    chance = frames / 256
    # Four standard deviations; in fact far fewer, for most bytes are no digits.
    assert passed <= chance + 4 * math.sqrt(chance)


def test_two_altered_digits_pass_about_one_time_in_nine_which_is_what_an_exclusive_or_can_do():
    """The checksum's weak side, stated so that nobody takes it for a CRC.

    Equal changes in two digits cancel.
    """
    frame, draw, passed = b"0.612345,1,0.587310,0.250000", random.Random(5), 0
    digits = [place for place, byte in enumerate(frame) if chr(byte).isdigit() and place != 9]
    tail = b"*%02X>" % functools.reduce(operator.xor, frame)
    trials = 4000
    for _ in range(trials):
        altered = bytearray(frame)
        for place in draw.sample(digits, 2):
            altered[place] = draw.choice(
                [digit for digit in b"0123456789" if digit != altered[place]]
            )
        passed += len(FrameReader(V2).feed(b"<" + bytes(altered) + tail))
    assert 0.05 * trials < passed < 0.15 * trials


# Lines to the motor driver


def checked(*lines: bytes) -> bytes:
    return b"".join(with_checksum(line) + b"\n" for line in lines)


def test_current_lines_are_torques_with_a_checksum():
    assert current_lines(ROBOT, [4.0, 4.0]) == checked(b"c 0 0.136000", b"c 1 0.136000")
    assert current_lines(ROBOT, [-40.0, 1e-5]) == checked(b"c 0 -1.360000", b"c 1 0.000000")
    assert current_lines(ROBOT, [0.0, 0.0]) == b"c 0 0.000000*77\nc 1 0.000000*76\n"


def test_current_lines_follow_the_mounting():
    mounted = dataclasses.replace(ROBOT, motor_signs=(1.0, -1.0))
    assert current_lines(mounted, [10.0, 10.0]) == checked(b"c 0 0.340000", b"c 1 -0.340000")
    assert current_lines(ONE_MOTOR, [-10.0]) == checked(b"c 0 0.340000")
    assert current_lines(ONE_MOTOR, [0.0]) == checked(b"c 0 0.000000")  # not -0.000000


def test_with_a_board_for_each_motor_each_is_axis_0_of_its_own():
    lines = current_lines(EVERY["mirrored"], [10.0, 20.0])
    assert by_board(EVERY["mirrored"], lines) == [
        checked(b"c 0 0.340000"),
        checked(b"c 0 -0.680000"),
    ]
    assert by_board(EVERY["mirrored"], b"") == [b"", b""]
    assert by_board(ROBOT, lines) == [lines]


@pytest.mark.parametrize("current", [math.nan, math.inf, -math.inf, 1e300])
def test_what_is_no_number_never_reaches_the_driver(current):
    with pytest.raises(ValueError, match="cannot be written"):
        current_lines(ROBOT, [0.0, current])


def test_a_current_for_each_motor_is_demanded():
    with pytest.raises(ValueError, match="1 currents came for 2 motors"):
        current_lines(ROBOT, [0.0])


def test_the_longest_line_fits_the_budget_of_the_baud_rate():
    # Ten bits a byte, a thousand times a second, on 460800 baud.
    assert len(current_lines(ROBOT, [-40.0, -40.0])) * 10_000 <= 0.8 * 460_800


@given(st.binary(max_size=30).filter(lambda line: not set(line) & set(b"*;")))
def test_a_line_with_its_checksum_is_read_back_and_with_any_other_ignored(line):
    assert strip_checksum(with_checksum(line)) == line
    assert strip_checksum(with_checksum(line) + b" ; said the operator") == line
    assert strip_checksum(line) == line
    assert strip_checksum(b"%s*%d" % (line, line_checksum(line) ^ 1)) is None


@pytest.mark.parametrize(
    "tail", [b"*x", b"*-1", b"*0x10", b"*999999999999", b"*1_0", b"*" + b"1" * 5000]
)
def test_a_checksum_that_is_no_number_is_a_wrong_one(tail):
    assert strip_checksum(b"c 0 1" + tail) is None


def test_the_checksum_is_the_exclusive_or_in_decimal():
    assert with_checksum(b"ab") == b"ab*3"  # 0x61 ^ 0x62
