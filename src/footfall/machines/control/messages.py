"""Messages under way on a line that takes time.

A queue of fixed length, elementwise, inside a discrete state.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import signal
from footfall.machines.control.microseconds import elapsed_us
from footfall.numerics.scalar import Scalar


class Message(eqx.Module):
    """What the high level tells the mid level."""

    arrival_us: Scalar = signal(doc="when it arrives, in microseconds that wrap")
    under_way: Scalar = signal(doc="whether it has yet to arrive")
    on: Scalar = signal(doc="whether the pitch law is wanted")
    pitch: Scalar = signal(unit="rad", doc="pitch measured")


class Queue(eqx.Module):
    """The newest message and those before it."""

    newest: Message
    older: Any = None  #: a Queue, or None at the end


def empty(length: int) -> Queue:
    """No message under way, and room for this many."""
    nothing = Message(np.int32(0), np.bool_(False), np.bool_(False), 0.0)
    return Queue(nothing, empty(length - 1) if length > 1 else None)


def sent(queue: Queue, message: Message, really: Any) -> Queue:
    """The queue with one more message; the oldest falls out. Where not `really`, unchanged."""
    older = None if queue.older is None else sent(queue.older, queue.newest, really)
    return Queue(_chosen(really, message, queue.newest), older)


def received(queue: Queue, now_us: Scalar) -> tuple[Queue, Any, Message]:
    """What has arrived by now.

    The queue without it, whether there was anything, and the newest of it.
    """
    newest = queue.newest
    here = newest.under_way & (elapsed_us(now_us, newest.arrival_us) >= 0)
    left = eqx.tree_at(lambda m: m.under_way, newest, newest.under_way & ~here)
    if queue.older is None:
        return Queue(left), here, newest
    older, any_older, other = received(queue.older, now_us)
    # A message that was overtaken is worth nothing any more.
    older = _chosen(here, _emptied(older), older)
    return Queue(left, older), here | any_older, _chosen(here, newest, other)


def counted_from(queue: Queue, zero_us: Scalar) -> Queue:
    """The same messages on a clock whose zero is at `zero_us` of this one."""
    newest = eqx.tree_at(lambda m: m.arrival_us, queue.newest, queue.newest.arrival_us - zero_us)
    return Queue(newest, None if queue.older is None else counted_from(queue.older, zero_us))


def _emptied(queue: Queue) -> Queue:
    rest = None if queue.older is None else _emptied(queue.older)
    return Queue(
        eqx.tree_at(lambda m: m.under_way, queue.newest, queue.newest.under_way & False), rest
    )


def _chosen(flag: Any, new: Any, old: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)
