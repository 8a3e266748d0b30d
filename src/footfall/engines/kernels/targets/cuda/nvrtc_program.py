"""CUDA text to machine code, from file to file, by the library named first.

A program of its own (`nvrtc.py` starts it): a compiler that crashes or hangs takes nobody with it.
Nothing but the standard library is imported, so that it starts at once.

    python -I nvrtc_program.py LIBRARY TEXT CUBIN OPTION...
"""

import ctypes
import pathlib
import sys


def compiled(library: str, options: list[str], text: bytes) -> tuple[bytes, str]:
    """The machine code (empty if there was an error), and what the compiler said."""
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    program, here = ctypes.c_void_p(), b"kernel.cu"

    def read(size: str, content: str) -> bytes:
        count = ctypes.c_size_t()
        getattr(nvrtc, size)(program, ctypes.byref(count))
        room = ctypes.create_string_buffer(count.value)
        getattr(nvrtc, content)(program, room)
        return room.raw

    made = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, here, 0, None, None)
    if made != 0:
        return b"", f"error: {nvrtc.nvrtcGetErrorString(made).decode()}"
    given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    code = nvrtc.nvrtcCompileProgram(program, len(options), given)
    log = read("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
    said = log.rstrip(b"\0").decode("utf-8", "replace")
    if code != 0:
        return b"", f"{said}\nerror: {nvrtc.nvrtcGetErrorString(code).decode()}"
    return read("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), said


if __name__ == "__main__":
    library, source, target, *options = sys.argv[1:]
    code, said = compiled(library, options, pathlib.Path(source).read_bytes())
    print(said)
    pathlib.Path(target).write_bytes(code)
    sys.exit(not code)
