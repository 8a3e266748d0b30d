"""A limit on the registers a GPU kernel may use.

Fewer registers a thread, more threads at once to hide each other's waiting.

Our kernels carry a robot's whole state in registers and wait for long chains of arithmetic. Left
alone, the compiler spends all 255 registers in double precision, which leaves 8 warps on a
multiprocessor. What is touched at events only can as well lie in cached memory. Triton knows such a
limit (`maxnreg`, a module attribute); Pallas has no way to ask for it. So we add the attribute to
the module that Pallas makes, for kernels that ask by name. Should a later JAX move that function,
kernels compile without the limit: slower, not wrong.
"""

import re
from typing import Any

_ASKS = re.compile(r"_registers_(\d+)$")


def limit_registers(kernel: Any, registers: int) -> Any:
    """Ask for the limit, by the kernel's name."""
    _install()
    kernel.__name__ = f"footfall_lanes_registers_{registers}"
    return kernel


def _install() -> None:
    try:
        from jax._src.pallas.triton import lowering
        from jaxlib.mlir import ir

        make = lowering.lower_jaxpr_to_triton_module
    except (ImportError, AttributeError):
        return
    if getattr(make, "limits_registers", False):
        return

    def make_limited(jaxpr: Any, *args: Any, **options: Any) -> Any:
        result = make(jaxpr, *args, **options)
        asked = _ASKS.search(str(getattr(getattr(jaxpr, "debug_info", None), "func_name", "")))
        if asked:
            operation = result.module.operation
            with operation.context:
                operation.attributes["ttg.maxnreg"] = ir.IntegerAttr.get(
                    ir.IntegerType.get_signless(32), int(asked.group(1))
                )
        return result

    make_limited.limits_registers = True  # type: ignore[attr-defined]
    lowering.lower_jaxpr_to_triton_module = make_limited
