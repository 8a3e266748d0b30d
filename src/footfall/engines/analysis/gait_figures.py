"""What a gait does: speed, step time, cost of transport, work by port, least rooms.

Made of one stride, by the same definitions as the metrics of a run (docs/conventions.md).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.return_map import Mapped, ReturnMap, Stride

#: m; a robot that goes no further than this in a stride goes nowhere.
NO_WAY = 1e-9


def figures_of(steps: ReturnMap, mapped: Mapped, system: Any = None) -> dict[str, float]:
    """By name; of another system than the map's where one is given."""
    weight = float(weight_of(steps.system if system is None else system))
    found = measures(steps, mapped)(mapped.stride, weight)
    return {name: float(value) for name, value in found.items()}


#: Room, in a guard's own unit, that rounding may leave where it came to zero.
NO_ROOM = 1e-9

#: Imaginary step: its square is nothing beside 1, so that derivatives are exact to rounding.
TINY = 1e-30


def slopes_of(steps: ReturnMap, mapped: Mapped, moved: Any, along: Any) -> dict[str, np.ndarray]:
    """How they change where a stride changes by `moved` and the system goes `along`.

    Both have a first axis. By imaginary steps: figures are a few operations on numbers, for which
    tracing takes longer than a gait.
    """
    measure = measures(steps, mapped)
    weight, weights = (np.asarray(v) for v in _weights(steps.system, along))
    rows = []
    for k, change in enumerate(weights):
        stride = jax.tree.map(
            lambda value, way, k=k: np.asarray(value) + 1j * TINY * np.asarray(way[k]),
            mapped.stride,
            moved,
        )
        rows.append(measure(stride, weight + 1j * TINY * change))
    return {name: np.array([np.imag(row[name]) / TINY for row in rows]) for name in rows[0]}


@jax.jit
def _weights(system: Any, along: Any) -> Any:
    return jax.vmap(lambda way: jax.jvp(weight_of, (system,), (way,)), out_axes=(None, 0))(along)


def weight_of(system: Any) -> Any:
    """N; one where the robot goes nowhere."""
    travel = system.travel()
    return jnp.asarray(1.0 if travel is None else 1.0 * travel.weight)


def measures(steps: ReturnMap, mapped: Mapped) -> Any:
    """The figures as a function of a stride that is like this one."""
    travel, (ports, jump_ports, events) = steps.system.travel(), steps.labels
    fired = _reached(steps, mapped)
    footfalls = float(np.sum([np.sum(n) for n in mapped.steps])) if mapped.steps else 0.0
    sides = max(1, len(travel.step_counters)) if travel is not None else 1

    def measure(stride: Stride, weight: Any) -> dict[str, Any]:
        out: dict[str, Any] = {"period": stride.t}
        if travel is not None:
            if footfalls > 0:
                out["step_time"] = stride.t * sides / footfalls
            out["mean_speed"] = stride.distance / stride.t
            if footfalls > 0:
                out["step_length"] = stride.distance * sides / footfalls
            out["distance"] = stride.distance
            paid = [
                work[k]
                for work, names in ((stride.work, ports), (stride.jump_work, jump_ports))
                for k, name in enumerate(names)
                if name in travel.motor_ports
            ]
            out["motor_work"] = sum(paid, start=0.0 * stride.t)
            out["mean_power"] = out["motor_work"] / stride.t
            if abs(float(mapped.stride.distance)) > NO_WAY:
                weighed = weight * stride.distance * np.sign(mapped.stride.distance)
                out["cost_of_transport"] = out["motor_work"] / weighed
        out |= {f"work.{name}": stride.work[k] for k, name in enumerate(ports)}
        out |= {f"jump_work.{name}": stride.jump_work[k] for k, name in enumerate(jump_ports)}
        # Of what happens in every stride the least room is zero, and a clock's says nothing.
        rooms = [
            (event, name, stride.rooms[k])
            for k, (event, name) in enumerate(events)
            if event.period is None and not fired[k] and np.isfinite(mapped.stride.rooms[k])
        ]
        out |= {f"least_room.{name}": room for _, name, room in rooms}
        pushes = [k for k, (event, _) in enumerate(events) if event.push and not fired[k]]
        if pushes:
            out["least_leg_force"] = stride.rooms[min(pushes, key=lambda k: mapped.stride.rooms[k])]
        return out

    return measure


def _reached(steps: ReturnMap, mapped: Mapped) -> np.ndarray:
    """Which guards came to zero: that of the section always."""
    section = np.arange(len(mapped.stride.rooms)) == int(steps.limits.stop_event)
    return (np.asarray(mapped.stride.rooms) <= NO_ROOM) | section
