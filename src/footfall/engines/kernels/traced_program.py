"""What a kernel needs to know of a traced program, read the same from every JAX we know.

Loops, branches and calls hold other programs, and JAX changes how: until 0.10 a scan counts its
inputs (`num_consts`, `num_carry`) and programs are closed over their constants; from 0.11 on it
groups them (`ft_in`, `ft_out`) and there is one kind of program. Nothing else in the kernel
generator looks into those parameters. A form that is not known here is refused, and the program
runs through XLA.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax

from footfall.engines.kernels.cpp_values import BLOCK
from footfall.engines.kernels.fuse_errors import CannotFuse

#: An equation of a program: `primitive`, `params`, `invars`, `outvars`. JAX has moved its class
#: before.
Equation = Any

#: Primitives that run another program, written out in place.
CALLS = (
    *("jit", "pjit", "closed_call", "core_call", "checkpoint", "remat", "remat2"),
    *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
)
#: Where they hold it.
HELD = ("jaxpr", "call_jaxpr", "fun_jaxpr")


#: What programs that become functions are called.
FUNCTION = "kernel_function"


def kernel_function(program: Any) -> Any:
    """A program that a kernel has once, as a function, however often it is called.

    It is traced once too. To be used where the text would grow too long: what is written out in
    place runs a little faster.
    """

    def named(*arguments: Any) -> Any:
        return program(*arguments)

    named.__name__ = named.__qualname__ = FUNCTION
    return jax.jit(named)


def is_function(eqn: Equation) -> bool:
    """Whether a call, or its derivative, is of a `kernel_function`."""
    return FUNCTION in str(eqn.params.get("name", ""))


class CountedLoop(NamedTuple):
    """A scan.

    Its inputs are constants, then what it carries, then arrays it reads row by row; its outputs are
    what it carried, then what it wrote.
    """

    consts: int
    carried: int
    reads: int  #: arrays read row by row
    writes: int  #: arrays written row by row
    length: int
    body: Any


class WhileLoop(NamedTuple):
    """A while loop.

    Its inputs are constants of the condition, those of the body, then what it carries.
    """

    condition_consts: int
    body_consts: int
    condition: Any
    body: Any


@contextlib.contextmanager
def known_form(primitive: str) -> Iterator[None]:
    """What a later JAX moved or renamed is a refusal by name, not a failure."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, AssertionError) as error:
        told = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise CannotFuse(
            primitive, f"has a form that footfall does not know (JAX {jax.__version__}; {told})"
        ) from error


def opened(program: Any) -> tuple[Any, Sequence[Any]]:
    """A program's equations, and the values of its constants.

    Closed over them, bare, or both in one.
    """
    return getattr(program, "jaxpr", program), getattr(program, "consts", ())


def called(eqn: Equation) -> Any:
    """The program that a call runs."""
    held = [eqn.params[name] for name in HELD if name in eqn.params]
    if len(held) != 1:
        raise CannotFuse(
            eqn.primitive.name,
            f"holds {len(held)} programs (JAX {jax.__version__}); footfall knows calls of one",
        )
    return held[0]


def counted_loop(eqn: Equation) -> CountedLoop:
    """A scan's parts."""
    with known_form(eqn.primitive.name):
        params = eqn.params
        if "ft_in" in params:
            consts, carried, reads = map(len, params["ft_in"].unpack())
            kept, writes = map(len, params["ft_out"].unpack())
        else:
            consts, carried = params["num_consts"], params["num_carry"]
            reads, kept = len(eqn.invars) - consts - carried, carried
            writes = len(eqn.outvars) - carried
        if (
            consts + carried + reads != len(eqn.invars)
            or kept != carried
            or kept + writes != len(eqn.outvars)
        ):
            raise ValueError(
                f"{len(eqn.invars)} inputs, {len(eqn.outvars)} outputs and other counts of them"
            )
        return CountedLoop(consts, carried, reads, writes, params["length"], params["jaxpr"])


def while_loop(eqn: Equation) -> WhileLoop:
    """A while loop's parts."""
    with known_form(eqn.primitive.name):
        params = eqn.params
        return WhileLoop(
            params["cond_nconsts"],
            params["body_nconsts"],
            params["cond_jaxpr"],
            params["body_jaxpr"],
        )


def branches(eqn: Equation) -> Sequence[Any]:
    """The programs a choice is made from."""
    with known_form(eqn.primitive.name):
        return eqn.params["branches"]


def without_unused(program: Any) -> tuple[Any, Sequence[Any]]:
    """A program without what none of its outputs needs, where JAX can tell.

    And the values of its constants.
    """
    jaxpr, consts = opened(program)
    try:
        from jax.interpreters import partial_eval

        return partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)[
            0
        ], consts
    except (ImportError, AttributeError, TypeError):
        return jaxpr, consts


def across_lanes(program: Any) -> str | None:
    """The first primitive that makes one number of those of all lanes, if any does."""
    jaxpr, _ = opened(program)
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name.startswith(("reduce_", "arg")) and "axes" in eqn.params:
            shape = eqn.invars[0].aval.shape
            if any(shape[axis] == BLOCK for axis in eqn.params["axes"]):
                return name
        for held in eqn.params.values():
            inner = held if isinstance(held, tuple | list) else [held]
            for part in inner:
                if hasattr(opened(part)[0], "eqns") and (found := across_lanes(part)):
                    return found
    return None


def places(eqn: Equation) -> list[tuple[str, int]]:
    """(file, line) of the calls that made an equation, the innermost first; none if unknown."""
    frames = getattr(getattr(eqn.source_info, "traceback", None), "frames", ())
    return [(frame.file_name, frame.line_num) for frame in frames]
