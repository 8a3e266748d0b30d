"""Structs of named scalars as flat names and as one vector."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import FieldInfo, describe
from footfall.hybrid.system import Event, Jump


def named_leaves(struct: Any, prefix: str = "") -> Iterator[tuple[str, Any, FieldInfo]]:
    """(flat name, value, declaration) of each declared field.

    Inner structs are joined by a dot: "hub.x".

    A field that holds an array over like legs gives one name per leg: "leg.force.3". One that holds
    None is a quantity this robot does not have (the deflection of a rigid foot), and gives nothing;
    nor does None for the whole struct (the power of a robot without ports).
    """
    if struct is None:
        return
    infos = describe(struct)
    for field in struct.__dataclass_fields__:
        value = getattr(struct, field)
        name = f"{prefix}{field}"
        if isinstance(value, eqx.Module):
            yield from named_leaves(value, f"{name}.")
        elif field in infos and value is not None:
            yield name, value, infos[field]


def output_fields(system: Any, state: Any) -> dict[str, FieldInfo]:
    """Every output of a system by its flat name, found without computing anything."""
    fields: dict[str, FieldInfo] = {}

    def look() -> int:
        fields.update(
            {name: info for name, _, info in named_leaves(system.outputs(0.0, state.x, state.m))}
        )
        return 0

    jax.eval_shape(look)
    return fields


class NoWork(eqx.Module):
    """What jumps report where none of them does work."""


def work_of_jumps(events: Sequence[Event], jump: Callable[[int], Jump]) -> Any:
    """The struct in which jumps report their work: that of the first which reports any.

    `jump` makes event k's.
    """
    made = (jump(k).work for k, event in enumerate(events) if event.outcome is None)
    return next((work for work in made if work is not None), NoWork())


class Layout(NamedTuple):
    """How structs become one vector: the tree, the shape of each leaf."""

    tree: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, struct: Any) -> "Layout":
        leaves, tree = jax.tree.flatten(struct)
        return cls(tree, tuple(np.shape(leaf) for leaf in leaves))

    @property
    def size(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes)

    def pack(self, struct: Any) -> jax.Array:
        leaves = jax.tree.leaves(struct)
        if not leaves:
            return jnp.zeros((0,))
        parts = [
            jnp.ravel(jnp.broadcast_to(leaf, shape))
            for leaf, shape in zip(leaves, self.shapes, strict=True)
        ]
        return jnp.concatenate(parts) if any(self.shapes) else jnp.stack([p[0] for p in parts])

    def unpack(self, vector: jax.Array) -> Any:
        leaves, start = [], 0
        for shape in self.shapes:
            size = math.prod(shape)
            leaves.append(
                vector[start] if shape == () else vector[start : start + size].reshape(shape)
            )
            start += size
        return jax.tree.unflatten(self.tree, leaves)
