"""Why a program cannot become one kernel.

Something in it has no rule, or nothing here can compile it.
"""


class CannotFuse(Exception):
    """The traced program holds something kernels have no form for.

    The caller runs it through XLA instead.
    """

    primitive: str  #: the JAX primitive without a rule, as `jax.make_jaxpr` prints it

    def __init__(self, primitive: str, reason: str) -> None:
        super().__init__(f"{primitive}: {reason}")
        self.primitive = primitive


class NoCompiler(Exception):
    """No C++ compiler could be used: missing, switched off, failed or too slow.

    One line says which.
    """
