"""Periodic gaits: fixed points of the return map, found by damped Newton and proved by a run.

Newton solves (I - J) d = P(v) - v for the numbers that have to repeat, in units of what each of
them changes by in a step (gaits.4). What a gait may do freely is taken out first: places that only
add up, shifts that no equation notices (symmetry.py). What it conserves is held instead: without a
port that does work the stored energy of a runner is what its guess has, and one more row asks for
it (gaits.6). A result is returned only if the robot, started from it, goes through it twice.
"""

import dataclasses
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.analysis.free_clock import locked
from footfall.engines.analysis.gait_figures import figures_of
from footfall.engines.analysis.modes import Mode, modes_of, said_number
from footfall.engines.analysis.return_map import Mapped, NoCycle, ReturnMap, names_of
from footfall.engines.analysis.symmetry import Quotient, on_level, only_adds_up, shifts
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.plan import EventEngine, Plan
from footfall.hybrid.fields import nearest
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Multipliers and unknowns that a line of text has room for.
MOST_SAID = 8
#: Newton's steps are halved at most this often.
HALVINGS = 10
#: Least singular value of I - J, as a share of the largest, below which it cannot be solved with:
#: the map is known to about 1e-12.
SINGULAR = 1e-9
#: Steps taken before Newton is tried once more, where it found nothing from the guess.
FURTHER = (1, 4, 16)
#: Roundings of a number that its repetition may be off by.
ROUNDINGS = 32
#: A number whose rounding is more than this share of its change in a step cannot repeat.
TOO_FAR = 1e-6
#: How well two steps in one run repeat one step from its start, as a share of what the numbers
#: change by: steps of the solver fall elsewhere, which a tolerance of 1e-10 moves by less.
REPEATS = 1e-6
#: Tolerances of its runs that a map may jump by from state to state, where steps of the solver fall
#: elsewhere and events are many. Closer than that Newton cannot come.
ROUGH = 30.0
#: A number that goes less far than this share of what others make of it is at rest, but for
#: rounding.
AT_REST = 1e-9
#: Energy that ports and jumps may add, as a share of what is stored, where it is conserved.
CONSERVED = 1e-9


class Cycle(NamedTuple):
    """A periodic gait.

    The state just after the event, its period, and the multipliers of the return map.

    Small disturbances are multiplied by `multipliers` from step to step: below one in modulus they
    die out. `modes` say what they are, `figures` what the gait does.
    """

    state: HybridState
    period: float
    multipliers: np.ndarray  #: eigenvalues of the return map's derivative, largest modulus first
    residual: float  #: largest component of (return map - identity), in units of its own change
    iterations: int
    unknowns: tuple[str, ...] = ()  #: names of the numbers that repeat, in the order of ...
    derivative: np.ndarray | None = None  #: ... the rows and columns of the return map's derivative
    modes: tuple[Mode, ...] = ()  #: one for each multiplier
    figures: Mapping[str, float] = MappingProxyType({})  #: speed, cost of transport, work, ...
    #: What is conserved, and was held: the gait is one of a family.
    held: Mapping[str, float] = MappingProxyType({})
    count: int = 1  #: events in a period
    repeats_after: int = 1  #: events after which it repeats already
    event: str = ""
    clock_periods: int = 0  #: of its clock in a period, where that runs free
    scale: np.ndarray | None = None  #: what each unknown changes by in a step
    map: Any = None  #: the ReturnMap it is a fixed point of ...
    point: Any = None  #: ... its numbers, and the map there ...
    quotient: Any = None  #: ... and which of them have to repeat

    @property
    def stable(self) -> bool:
        """Whether every small disturbance dies out."""
        return bool(np.all(np.abs(self.multipliers) < 1.0))

    @property
    def verdict(self) -> str:
        """Whether it is stable, in a sentence."""
        family = f" at this {' and '.join(self.held)}" if self.held else ""
        if not len(self.multipliers):
            return f"stable{family}: nothing of it can be disturbed at this event"
        size = float(np.abs(self.multipliers[0]))
        if self.stable:
            return f"stable{family}: every small disturbance dies out"
        growing = int(np.sum(np.abs(self.multipliers) >= 1.0))
        often = "step" if self.count == 1 else "period"
        return f"unstable{family}: {growing} of its disturbances grow, by {size:.4g} a {often}"

    @property
    def when(self) -> str:
        """Where in the gait its state is."""
        return "just before a tick" if self.clock_periods else "just after the event"

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:.4g}" for size in np.abs(self.multipliers[:MOST_SAID]))
        more = (
            f" and {len(self.multipliers) - MOST_SAID} smaller"
            if len(self.multipliers) > MOST_SAID
            else ""
        )
        numbers = dict(
            zip(
                names_of(self.state),
                np.concatenate([np.ravel(v) for v in jax.tree.leaves(self.state)]),
                strict=True,
            )
        )
        named = [f"{name} = {numbers[name]:.6g}" for name in self.unknowns if name in numbers]
        state = ", ".join(named[:MOST_SAID]) + (
            f" and {len(named) - MOST_SAID} more" if len(named) > MOST_SAID else ""
        )
        often = "" if self.count == 1 else f", {self.count} events"
        often += f", {self.clock_periods} periods of its clock" if self.clock_periods else ""
        if self.repeats_after < self.count:
            often += f" (it repeats after {self.repeats_after} already)"
        return "\n".join(
            [
                f"{'stable' if self.stable else 'unstable'} gait of period"
                f" {self.period:.8g} s{often}",
                *(f"  {name} held at {value:.8g}" for name, value in self.held.items()),
                f"  multipliers, modulus: {sizes}{more}",
                *(f"    {line}" for line in self.said_modes()),
                f"  state {self.when}: {state}",
                *([f"  {said}"] if (said := self.said_figures()) else []),
                f"  residual {self.residual:.1e} after {self.iterations} iterations",
            ]
        )

    def said_modes(self, most: int = 4) -> list[str]:
        """A line to each mode that is not gone after a step, pairs together."""
        slow = [mode for mode in self.modes if not mode.gone and mode.multiplier.imag >= 0]
        lines = [f"{said_number(mode.multiplier)}: {mode.words}" for mode in slow[:most]]
        faster = len([mode for mode in self.modes if not mode.gone]) - sum(
            1 + (mode.multiplier.imag > 0) for mode in slow[:most]
        )
        gone = sum(mode.gone for mode in self.modes)
        rest = [f"{faster} that die out faster"] * (faster > 0) + [
            f"{gone} gone after one step"
        ] * (gone > 0)
        return [*lines, *(["and " + ", ".join(rest)] if rest else [])]

    def said_figures(self) -> str:
        """Speed, step time, cost of transport in a line."""
        said = {
            "mean_speed": ("speed", "m/s"),
            "step_time": ("step time", "s"),
            "step_length": ("step length", "m"),
            "cost_of_transport": ("cost of transport", ""),
        }
        return ", ".join(
            f"{word} {self.figures[name]:.6g} {unit}".rstrip()
            for name, (word, unit) in said.items()
            if name in self.figures
        )

    def plot(self, path: Any = None) -> Any:
        """Draw it: the cycle in the phase plane, the return map, its multipliers.

        Arguments:
            path: a .png file to write; without it the figure is returned to be shown.
        """
        return importlib.import_module("footfall.pictures.cycle_plot").draw_cycle(self, path)


def find_cycle(
    system: AbstractHybridSystem,
    guess: HybridState,
    event: str,
    plan: Plan | None = None,
    *,
    ignore: tuple[str, ...] = (),
    warm_up: int = 0,
    tolerance: float = 1e-12,
    iterations: int = 20,
    count: int = 1,
    leg: int = 0,
    hold: str | None = "energy",
    energy: float | None = None,
    mirror: bool = False,
    free_clock: bool = False,
) -> Cycle:
    """Find a periodic gait.

    Damped Newton on the return map just after an event, with the exact derivative.

    Arguments:
        system, guess: a robot and a state from which it nearly walks.
        event: the event a step ends with ("touchdown").
        plan: tolerances, and as its duration the longest a single step may take.
        ignore: names of numbers that need not repeat.
        warm_up: steps to take first.
        tolerance, iterations: how well the state has to repeat, as a share of what it changes by in
            a step, and after how many tries to give up.
        count: events after which it repeats: 2 for a gait of period two.
        leg: of like legs, which one's event.
        hold: what is held where the robot conserves it: "energy" (stored), or None.
        energy: J, at which it is held; without it, that of the guess.
        mirror: look for half a stride, after which the robot is its own mirror image
            (`system.mirrored`).
        free_clock: of a robot with a clock, the gait whose steps come out even with a clock that
            nobody sets; without it, that of a clock which is set at each event.

    Returns a `Cycle`: state, period, multipliers (a gait with all of them below one in modulus is
    stable), modes and figures. Raises NoCycle.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> cycle = ff.find_cycle(wheel.system, wheel.start, "touchdown")
    >>> print(f"{cycle.period:.4f} s, multiplier {abs(cycle.multipliers[0]):.4f}")
    0.2515 s, multiplier 0.6545

    The unknowns are all floating-point numbers of the state, continuous and discrete. A number that
    only adds up and that nothing else depends on (a position, a heading) need not repeat, nor a
    place that nothing notices: such are found by themselves. `ignore` names others that need not.
    `warm_up` steps are taken first, to come near a stable gait; without a gait near the guess some
    are taken anyway.

    Rounded numbers have no derivative to speak of, and chance does not repeat: a control computer
    (`stack`) is to have pitch_step = current_step = 0, no noise, no loss, no jitter.
    """
    prepare_jax()
    plan = plan or Plan(engine=EventEngine(rtol=1e-10, atol=1e-12))
    for name, number in (("count", count), ("iterations", iterations)):
        if number < 1:
            raise ValueError(f"{name} = {number}: it is at least 1.")
    if hold not in (None, "energy"):
        raise ValueError(f'hold: "{hold}" cannot be held. Known: energy, None.')
    if energy is not None and hold is None:
        raise ValueError(f"energy = {energy:g}: it is held only with hold='energy'.")
    if mirror and system.mirrored(*guess) is None:
        raise ValueError(
            f"mirror: {type(system).__name__} does not say what its mirror image is; give it a"
            " method `mirrored(x, m)` that exchanges left and right."
        )
    steps = ReturnMap.of(system, guess, event, plan, leg=leg, count=count, mirror=mirror)
    for name in ignore:
        if name not in steps.names:
            raise ValueError(
                f'ignore: "{name}" is no number of this state. Known: {", ".join(steps.names)}.'
                f"{nearest(name, steps.names)}"
            )
    if free_clock:
        return locked(
            steps, guess, lambda at: Search(at, ignore, hold, energy, tolerance, iterations).find()
        )
    return Search(steps, ignore, hold, energy, tolerance, iterations).find(warm_up)


@dataclasses.dataclass
class Point:
    """Numbers, and the map there."""

    flat: np.ndarray
    counts: Any
    mapped: Mapped

    @property
    def gap(self) -> np.ndarray:
        return self.mapped.stride.numbers - self.flat

    @property
    def derivative(self) -> np.ndarray:
        """Rows: numbers after. Columns: numbers before."""
        return self.mapped.slopes.numbers[: len(self.flat)].T


@dataclasses.dataclass
class Search:
    """Newton's search for a fixed point."""

    map: ReturnMap
    ignore: tuple[str, ...]
    hold: str | None
    energy: float | None  #: J, that is held; None: that of the point begun with
    tolerance: float
    iterations: int

    def __post_init__(self) -> None:
        self.names = np.array(self.map.names)
        self.asked = np.array([name not in self.ignore for name in self.names])
        self.shifts: np.ndarray | None = None
        self.level: float | None = None  #: J, energy that is held
        self.tried = 0

    def find(self, warm_up: int = 0) -> Cycle:
        """From the guess; where nothing is near it, from where some steps lead."""
        flat, counts = self.map.start, self.map.counts
        point, first = self.walked(flat, counts, warm_up), None
        for further in (0, *FURTHER):
            try:
                if further:
                    point = self.walked(point.flat, point.counts, further)
                return self.newton(point)
            except NoCycle as none:
                first = first or none
        assert first is not None
        raise first

    def walked(self, flat: np.ndarray, counts: Any, steps: int) -> Point:
        """After some steps, with clocks that are set back at each."""
        mapped = self.map.at(flat, counts)
        for _ in range(steps):
            flat, counts = mapped.stride.numbers, mapped.after
            mapped = self.map.at(flat, counts)
        return Point(flat, counts, mapped)

    def scale(self, point: Point) -> np.ndarray:
        """What each number changes by in a step: half of its way to and fro.

        One that only jumps change, or that a symmetric gait leaves at rest: what the others'
        changes make of it.
        """
        path = 0.5 * point.mapped.stride.path
        made = np.max(np.abs(point.derivative) * path, axis=1)
        still = path <= AT_REST * made
        moved = np.maximum(path, np.abs(point.gap))
        usual = np.where(still, np.maximum(np.abs(point.flat), made), moved)
        return np.where(usual > 0, usual, 1.0)

    def quotient(self, point: Point) -> Quotient:
        """What has to repeat here."""
        kept = self.asked & ~only_adds_up(point.derivative, self.asked)
        if self.shifts is None:
            return Quotient(kept, np.eye(len(kept))[kept])
        continuous = point.mapped.stride.path > 0
        return Quotient.of(kept, self.shifts, np.where(continuous, 1.0, 0.5))

    def newton(self, point: Point) -> Cycle:
        """Damped: a step is halved until the residual falls and the robot still steps."""
        self.shifts, self.level = None, self.conserved(point)
        settled, residual = False, np.inf
        for iteration in range(1, self.iterations + 1):
            self.tried = iteration
            quotient, scale = self.quotient(point), self.scale(point)
            change = self.step(point, quotient, scale)
            if self.shifts is not None:
                quotient = self.quotient(point)
            residual, before = self.residual(point, quotient, scale), settled
            settled = residual <= self.tolerance or self.rounded(point, quotient, scale)
            # Counts and flags that changed must not matter: with those after the step, it has to be
            # the same step again.
            if settled and (before or _equal(point.counts, point.mapped.after)):
                return self.proved(point, quotient, scale, residual)
            better = self.damped(point, change, quotient, scale, residual)
            if better is None:
                if residual <= max(self.tolerance, ROUGH * float(self.map.limits.rtol)):
                    # The map has no more digits than its runs; the proof is a run through it twice.
                    return self.proved(point, quotient, scale, residual)
                break
            point = better
        raise NoCycle(
            f"Newton did not settle in {self.tried} iterations (residual {residual:.1e} of what"
            " changes in a step); try more `warm_up` steps, or another start."
        )

    def damped(
        self,
        point: Point,
        change: np.ndarray,
        quotient: Quotient,
        scale: np.ndarray,
        residual: float,
    ) -> Point | None:
        """The point after a step of Newton's, halved until it is better; None where none is."""
        flat = np.where(quotient.kept, point.flat, self._carried(point))
        share = 1.0
        for _ in range(HALVINGS):
            trial = flat + share * change
            try:
                mapped = self.map.at(trial, point.mapped.after)
            except NoCycle:
                share *= 0.5
                continue
            new = Point(trial, point.mapped.after, mapped)
            now = self.residual(new, quotient, scale)
            if now <= max((1.0 - 0.25 * share) * residual, self.tolerance):
                return new
            share *= 0.5
        return None

    def _carried(self, point: Point) -> np.ndarray:
        """Numbers that only add up go on; a place that is shifted out stays."""
        alone = ~self.asked | only_adds_up(point.derivative, self.asked)
        return np.where(alone, point.mapped.stride.numbers, point.flat)

    def residual(self, point: Point, quotient: Quotient, scale: np.ndarray) -> float:
        """Largest gap, in units of what changes in a step; what is held counts too."""
        gap = np.abs(quotient.vector(point.gap)) / scale[quotient.kept]
        largest = float(np.max(gap, initial=0.0))
        if self.level is not None:
            off = point.mapped.stride.begin_energy - self.level
            largest = max(largest, abs(float(off)) / max(abs(self.level), 1e-300))
        return largest

    def rounded(self, point: Point, quotient: Quotient, scale: np.ndarray) -> bool:
        """Whether every gap is no more than rounding of its number, which is small in a step."""
        gap = np.abs(quotient.vector(point.gap))
        rounding = ROUNDINGS * np.finfo(float).eps * np.abs(point.flat[quotient.kept])
        near = rounding <= TOO_FAR * scale[quotient.kept]
        fine = gap <= np.maximum(rounding, self.tolerance * scale[quotient.kept])
        return bool(np.all(near & fine)) and self.level is None

    def conserved(self, point: Point) -> float | None:
        """The stored energy to hold, where nothing adds to it or takes from it.

        Raises ValueError where one is asked for and it is not conserved.
        """
        stride = point.mapped.stride
        given = np.sum(np.abs(stride.work)) + np.sum(np.abs(stride.jump_work))
        stored = max(abs(float(stride.begin_energy)), abs(float(stride.energy)))
        lost = abs(float(stride.energy - stride.begin_energy))
        enters = np.any(point.mapped.slopes.begin_energy != 0.0)
        if self.hold is None or not enters or max(given, lost) > CONSERVED * stored:
            if self.energy is not None:
                raise ValueError(
                    f"energy = {self.energy:g} J cannot be held: it is not conserved. In a step"
                    f" {given:.3g} J pass through ports and jumps, of {stored:.3g} J stored."
                )
            return None
        return float(stride.begin_energy) if self.energy is None else self.energy

    def step(self, point: Point, quotient: Quotient, scale: np.ndarray) -> np.ndarray:
        """Newton's step, as a change of all numbers. Where there is none, finds out why."""
        kept = quotient.kept
        size = scale[kept]
        matrix = np.eye(kept.sum()) - quotient.matrix(point.derivative)
        matrix = matrix * size[None, :] / size[:, None]
        gap = quotient.vector(point.gap) / size
        if self.level is not None:
            energy = point.mapped.slopes.begin_energy[: len(kept)][kept] * size
            reach = max(float(np.max(np.abs(energy))), 1e-300)
            off = self.level - float(point.mapped.stride.begin_energy)
            matrix = np.concatenate([matrix, energy[None] / reach])
            gap = np.concatenate([gap, [off / reach]])
        if not matrix.size:
            return np.zeros(len(kept))
        rows, columns = _balance(matrix)
        _, values, directions = np.linalg.svd(matrix * rows[:, None] * columns, full_matrices=False)
        if values[-1] > SINGULAR * values[0]:
            return quotient.spread(size * np.linalg.lstsq(matrix, gap, rcond=None)[0])
        if self.shifts is None and self.map.system.travel() is not None:
            visited = np.stack([point.flat, point.mapped.stride.numbers])
            found = shifts(self.map.system, self.map.like, point.counts, visited)
            self.shifts = found
            if found.shape[1]:
                return self.step(point, self.quotient(point), scale)
        weight = np.abs(directions[-1] * columns * size)
        free = self.names[kept][weight > 1e-3 * weight.max()]
        raise NoCycle(
            f"a step may begin with {' and '.join(free)} shifted together and be the same step:"
            " there is no single gait to find. If they need not repeat (a position, a foot on level"
            f" ground), say so: ignore=({', '.join(map(repr, map(str, free)))},)."
        )

    def proved(self, point: Point, quotient: Quotient, scale: np.ndarray, residual: float) -> Cycle:
        """The cycle, once a run from it has repeated it."""
        kept, count = quotient.kept, int(point.mapped.events)
        self._require_idle(point.derivative[np.ix_(kept, ~self.asked)], kept)
        jacobian, size = quotient.matrix(point.derivative), scale[kept]
        self._require_repeated(point, quotient, size, jacobian)
        matrix, held = jacobian * size[None, :] / size[:, None], {}
        names = [str(name) for name in self.names[kept]]
        modes = modes_of(jacobian, names, size)
        if self.level is not None:
            held = {"energy": self.level}
            energy = point.mapped.slopes.begin_energy[: len(kept)][kept] * size
            reduced, inside = on_level(matrix, energy)
            level = [str(k) for k in range(inside.shape[1])]
            modes = [
                _lifted(mode, inside, size, names)
                for mode in modes_of(reduced, level, np.ones(len(level)))
            ]
        multipliers = np.array([mode.multiplier for mode in modes])
        if np.all(multipliers.imag == 0.0):
            multipliers = multipliers.real
        return Cycle(
            state=self.map.state(point.flat, point.counts),
            period=float(point.mapped.stride.t),
            multipliers=multipliers,
            residual=residual,
            iterations=self.tried,
            unknowns=tuple(names),
            derivative=jacobian,
            modes=tuple(modes),
            figures=figures_of(self.map, point.mapped),
            held=held,
            count=count,
            repeats_after=self._least_count(point, quotient, size),
            event=self.map.event,
            scale=size,
            map=self.map,
            point=point,
            quotient=quotient,
        )

    def _require_repeated(
        self, point: Point, quotient: Quotient, size: np.ndarray, jacobian: np.ndarray
    ) -> None:
        """Two steps in one run have to be the same step twice.

        The second begins where the engine's own event left off, so that what is armed there is not
        what a map arms. A clock that runs free makes it another step: such gaits are those of a
        clock that is set at the event, and are not asked.
        """
        ticks = self.map.begins == "tick"  # then one run has the clock run on
        if self.map.begins == "mirror" or (self.map.clocked and not ticks):
            return
        try:
            twice = self.map.at(point.flat, point.counts, times=2)
        except NoCycle as none:
            raise NoCycle(
                f"a step from this state repeats it, but the next does not: {none}"
            ) from (none)
        matrix = jacobian * size[None, :] / size[:, None]
        apart = np.abs(quotient.vector(twice.stride.numbers - point.flat)) / size
        grown = REPEATS * max(1.0, float(np.linalg.norm(matrix, 2)))
        late = abs(float(twice.stride.t) / float(point.mapped.stride.t) - 2.0)
        if np.max(apart, initial=0.0) > grown or late > grown:
            worst = self.names[quotient.kept][int(np.argmax(apart))]
            raise NoCycle(
                "a step from this state repeats it, but in a run the next step is another one:"
                f" {worst} is {np.max(apart):.1e} of its change in a step away, and two steps take"
                f" {float(twice.stride.t):.6g} s instead of {2 * float(point.mapped.stride.t):.6g}"
                " s. An event's guard or flag means something else there than after its jump."
            )

    def _least_count(self, point: Point, quotient: Quotient, size: np.ndarray) -> int:
        """The fewest events after which it repeats already."""
        count = int(point.mapped.events)
        if self.map.begins == "tick":
            return count
        for fewer in (n for n in range(1, count) if count % n == 0):
            once = dataclasses.replace(
                self.map, limits=self.map.limits._replace(stop_count=np.int32(fewer))
            )
            after = once.at(point.flat, point.counts).stride.numbers
            if np.max(np.abs(quotient.vector(after - point.flat)) / size, initial=0.0) < REPEATS:
                return fewer
        return count

    def _require_idle(self, effect: np.ndarray, keep: np.ndarray) -> None:
        """Raise where a number that is ignored moves one that has to repeat.

        Its multipliers would be those of another map. Beyond rounding, grown by what a step grows.
        """
        largest = np.max(np.abs(effect), axis=0, initial=0.0)
        for k in np.flatnonzero(largest > 1e-6):
            row = int(np.argmax(np.abs(effect[:, k])))
            moved, ignored = self.names[keep][row], self.names[~self.asked][k]
            raise NoCycle(
                f'ignore: "{ignored}" cannot be ignored at this event: {moved} after a step changes'
                f" {largest[k]:.3g} times as much as it. Take another event, or a state in which it"
                " does not matter (a place measured from the foot)."
            )


def _lifted(mode: Mode, inside: np.ndarray, size: np.ndarray, names: list[str]) -> Mode:
    """A mode on a surface, in the unknowns."""
    vector = inside @ mode.direction
    sizes = np.abs(vector) / max(float(np.abs(vector).max()), 1e-300)
    order = np.argsort(-sizes, kind="stable")
    return Mode(mode.multiplier, {names[i]: float(sizes[i]) for i in order}, vector * size)


def _balance(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors of rows and columns that bring their largest numbers near one."""
    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    for _ in range(4):
        now = np.abs(matrix) * rows[:, None] * columns
        rows /= np.sqrt(np.where((high := now.max(axis=1)) > 0, high, 1.0))
        columns /= np.sqrt(np.where((wide := now.max(axis=0)) > 0, wide, 1.0))
    return rows, columns


def _equal(one: Any, other: Any) -> bool:
    return all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )
