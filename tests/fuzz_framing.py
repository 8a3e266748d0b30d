"""Coverage-guided fuzzing of everything that reads bytes from a line at the mid level. Not part of
the tests: run it by hand.

    pip install atheris
    python tests/fuzz_framing.py -max_total_time=60

Claims: no bytes raise or crash; Python and C accept the same frames with the same values and
counts, whatever the pieces; what is accepted is within its limits; and both programs send the same
bytes."""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent))

with atheris.instrument_imports(include=["footfall.machines.control"]):
    from footfall.machines.control.driver_lines import strip_checksum
    from footfall.machines.control.framing import FrameReader, checksum_of, down_format, up_format
    from footfall.machines.control.mid import MidProgram

from support.firmware import FirmwareMid, FirmwareReader
from support.stack_cases import EVERY

SETTINGS = list(EVERY.values())


def one_input(data: bytes) -> None:
    source = atheris.FuzzedDataProvider(data)
    settings = source.PickValueInList(SETTINGS)
    form = source.PickValueInList([down_format(settings), up_format(settings)])
    ours, theirs = FrameReader(form), FirmwareReader(form)
    python, firmware, now = (
        MidProgram(settings),
        FirmwareMid(settings),
        source.ConsumeIntInRange(0, 2**32 - 1),
    )
    while source.remaining_bytes():
        piece = source.ConsumeBytes(source.ConsumeIntInRange(1, 64))
        # No fuzzer guesses a checksum: give it one, so that it gets to what lies behind.
        if source.ConsumeBool():
            piece = b"<" + piece + (checksum_of(piece) if form.checksum else b"") + b">"
        frames = ours.feed(piece)
        assert frames == theirs.feed(piece)
        assert (ours.accepted, ours.rejected) == (theirs.accepted, theirs.rejected)
        assert all(
            abs(value) <= field.limit
            for frame in frames
            for field, value in zip(form.fields, frame, strict=True)
        )
        now += source.ConsumeIntInRange(0, 200_000)
        for program in (python, firmware):
            program.receive(piece, now)
        assert python.step(now) == firmware.step(now)
        strip_checksum(piece)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
