"""The two-leg step climber of the `TwoLegRobot` report.

An inchworm of four 10 cm links, three motors and two flat feet.

From the report: lengths, masses, step height, lift, stride, speed, the approach of 0.49 m and the
goal at 1 m. Fixed here because the report leaves it open: feet 0.1 m apart, foot 1 first, an edge
at 0.5 m (suggested by the approach), feet that the ground holds down.
"""

from typing import Any

from footfall.hybrid.fields import describe, nearest
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.two_leg.course import Verb
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.single_moves import in_the_air
from footfall.machines.two_leg.walker import TwoLegWalker


def two_leg_walker(
    *, gait: InchwormGait | None = None, terrain: AbstractTerrain | None = None, **options: Any
) -> TwoLegWalker:
    """Walks 0.49 m, climbs a step of 5 cm, walks on until foot 1 is at 1 m.

    `options` are the walker's own parameters.
    """
    return TwoLegWalker(
        gait=gait or InchwormGait(),
        terrain=terrain or Steps(edges=(0.5,), heights=(0.05,)),
        **options,
    )


class Walker:
    """The two-leg walker by its verbs, one after another.

    `plan()` does them all, ready for `ff.simulate`.

    Distances are signed as in the source: it walks towards -x. Options are those of
    `two_leg_walker`, and of its gait.

    >>> import footfall as ff
    >>> walker = ff.Walker(lift=0.005)
    >>> walker.walk(-0.49).climb(0.05).walk_to(-1.0)
    Walker(lift=0.005)
      route: walk -0.49; climb 0.05; walk_to -1
      takes 47.6 s; ff.simulate(walker.plan()) runs it
    """

    def __init__(self, **options: Any):
        mine, gait = (set(describe(cls)) for cls in (TwoLegWalker, InchwormGait))
        for name in options:
            if name not in mine | gait:
                raise TypeError(
                    f'Walker has no option "{name}".{nearest(name, sorted(mine | gait))}'
                )
        self._given = options
        steps = {name: value for name, value in options.items() if name in gait - mine}
        self.options = {name: value for name, value in options.items() if name in mine}
        if steps:
            self.options["gait"] = InchwormGait(**steps)
        self.verbs: list[Verb] = []

    def __repr__(self) -> str:
        route = "; ".join(f"{verb.name} {verb.value:g}" for verb in self.verbs)
        lines = [f"Walker({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"]
        lines.append(f"  route: {route or 'none yet; walker.walk(-0.5) begins one'}")
        if in_the_air(self.verbs):
            lines.append("  a foot is in the air: carry it across, put it down")
        elif self.verbs:
            lines.append(
                f"  takes {float(self.plan().plan_time):.5g} s; ff.simulate(walker.plan()) runs it"
            )
        return "\n".join(lines)

    def walk(self, distance: float) -> "Walker":
        """Walk a signed distance."""
        return self._then("walk", distance)

    def walk_to(self, x: float) -> "Walker":
        """Walk until foot 1 is at x."""
        return self._then("walk_to", x)

    def climb(self, height: float) -> "Walker":
        """One step up, or down where the height is negative."""
        return self._then("climb", height)

    def go_to(self, x: float) -> "Walker":
        """Find footsteps over the terrain until foot 1 is at x."""
        return self._then("go_to", x)

    def lift_left(self, height: float) -> "Walker":
        """Lift foot 1 straight up; put it down where the height is negative."""
        return self._then("lift_left", height)

    def step_left(self, distance: float) -> "Walker":
        """Carry foot 1, which is lifted, a signed distance."""
        return self._then("step_left", distance)

    def lift_right(self, height: float) -> "Walker":
        """Lift foot 2 straight up; put it down where the height is negative."""
        return self._then("lift_right", height)

    def step_right(self, distance: float) -> "Walker":
        """Carry foot 2, which is lifted, a signed distance."""
        return self._then("step_right", distance)

    def _then(self, name: str, value: float) -> "Walker":
        self.verbs.append(Verb(name, float(value)))
        if not in_the_air(self.verbs):
            self.plan()  # what cannot be done is said here, at the verb that asks for it
        return self

    def plan(self) -> TwoLegWalker:
        """The walker that follows this route."""
        return two_leg_walker(
            route="; ".join(f"{verb.name} {verb.value!r}" for verb in self.verbs), **self.options
        )
