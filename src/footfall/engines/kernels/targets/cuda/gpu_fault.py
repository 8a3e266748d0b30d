"""What can go wrong on a GPU while a kernel runs."""


class GpuFault(Exception):
    """A GPU did not take or did not finish a kernel. One line says why."""
