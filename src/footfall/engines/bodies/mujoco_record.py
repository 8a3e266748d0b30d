"""What a run of rigid bodies leaves behind.

Rows allocated once, works summed a chunk at a time, a Trajectory at the end.
"""

import math
from typing import Any

import equinox as eqx
import jax
import numpy as np

from footfall.hybrid.fields import port, store
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import (
    AbstractDriver,
    AbstractRigidBodies,
    BodiesState,
    Log,
    require_mujoco,
)
from footfall.numerics.scalar import Scalar
from footfall.record.builder import Builder, Mark, Stand
from footfall.record.columns import RowStructs, named_columns
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import EventRecord, Trajectory


class BodiesPower(eqx.Module):
    """Ports of rigid bodies that motors move."""

    driving: Scalar = port(kind="work", doc="motors while they drive")
    braking: Scalar = port(kind="loss", doc="motors while they brake")
    contact: Scalar = port(
        kind="loss", doc="ground and stops of the joints; soft ones give back a little now and then"
    )
    friction: Scalar | None = port(kind="loss", doc="viscous friction of the joints")


class BodiesStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of all bodies")
    gravity: Scalar = store(doc="weight times height of all bodies")


class _Contacts:
    """Contacts of samples as MuJoCo has them, one after another, until they are looked at."""

    def __init__(self, samples: int):
        self.used, self.counts = 0, np.zeros(samples, int)
        self.geom, self.frame, self.force = (
            np.zeros((0, 2), int),
            np.zeros((0, 9)),
            np.zeros((0, 3)),
        )

    def room(self, more: int) -> tuple[int, int]:
        """Where the next ones go; grown where it must be."""
        begin, end = self.used, self.used + more
        if end > len(self.geom):
            grown = max(1024, 2 * end)
            self.geom, self.frame, self.force = (
                np.concatenate([old, np.zeros((grown - len(old), old.shape[1]), old.dtype)])
                for old in (self.geom, self.frame, self.force)
            )
        self.used = end
        return begin, end


def _limits_of_freedoms(model: Any) -> np.ndarray | None:
    """Largest effort of the motor at each degree of freedom, slightly less so that a cut force
    counts as at it; None where none is limited.
    """
    limited = np.flatnonzero(model.actuator_forcelimited)
    if not len(limited):
        return None
    limits = np.full(model.nv, np.inf)
    joints = model.actuator_trnid[limited, 0]
    limits[model.jnt_dofadr[joints]] = (
        model.actuator_forcerange[limited, 1]
        * np.abs(model.actuator_gear[limited, 0])
        * (1.0 - 1e-12)
    )
    return limits


class BodiesRecord:
    """Collects samples and the work of every step."""

    def __init__(
        self,
        system: AbstractRigidBodies,
        model: Any,
        data: Any,
        driver: AbstractDriver,
        steps: int,
        every: int,
    ):
        self.mujoco = require_mujoco()
        self.system, self.model, self.data, self.driver, self.every = (
            system,
            model,
            data,
            driver,
            every,
        )
        self.step = float(model.opt.timestep)
        rows = -(-steps // every) + 1
        self.t = every * self.step * np.arange(rows)  # adding up steps would drift
        # Rows written, those whose works are summed, those of the record.
        self.count = self.summed = self.kept = 0
        self.qpos, self.qvel = np.zeros((rows, model.nq)), np.zeros((rows, model.nv))
        self.effort, self.energy = np.zeros((rows, model.nu)), np.zeros((rows, 2))
        self.watched = {
            name: np.zeros((rows, *np.shape(value))) for name, value in driver.watch().items()
        }
        self.contact = np.zeros((rows, len(system.touching), 3))
        self.touching = np.full(model.ngeom, -1)
        self.touching[[model.geom(name).id for name in system.touching]] = np.arange(
            len(system.touching)
        )
        # Elliptic cones without rolling friction and without gaps: their forces lie side by side.
        elliptic = model.opt.cone == self.mujoco.mjtCone.mjCONE_ELLIPTIC
        self.plain = elliptic and bool(
            np.all(model.geom_condim == 3) and not model.geom_gap.any() and not model.npair
        )
        self.waiting, self.first_waiting = _Contacts(rows), 0
        self.limits = _limits_of_freedoms(model)
        self.rubs = bool(np.any(model.dof_damping > 0))
        ports = 4 if self.rubs else 3
        self.power, self.work = np.zeros((rows, ports)), np.zeros((rows, ports))
        self.total, self.flowed = np.zeros(ports), np.zeros(rows)
        self.passed = 0.0
        self.rooms = np.full((len(system.events), rows), np.inf)
        self.outcome, self.cause = Outcome.running, -1
        self.lost = False  # whether speeds stopped being numbers: then no step more is made
        self.flags = (int(model.opt.enableflags), int(model.opt.enableflags) | ENERGY)
        # Looking up what belongs to a model or its data takes longer than copying it.
        self._seen = data.contact
        self._option, self._begin, self._found = (
            model.opt,
            (data.qpos, data.qvel),
            (data.actuator_force, data.energy),
        )
        self._scratch: tuple[np.ndarray, ...] = ()
        self._terms: tuple[np.ndarray, ...] = ()
        self._dampings: list[tuple[int, np.ndarray]] = []

    @property
    def time(self) -> float:
        """How far the run is."""
        return float(self.t[self.count - 1]) if self.count else 0.0

    # ---- in the loop

    def block_rows(self, count: int) -> tuple[np.ndarray, ...]:
        """Room for speeds (one row more), pushes and efforts of a block of steps."""
        if not self._scratch or len(self._scratch[1]) != count:
            width = self.model.nv
            self._scratch = (
                np.zeros((count + 1, width)),
                *(np.zeros((count, width)) for _ in range(2)),
            )
            self._terms = (np.zeros((count, width)), np.zeros((count, width)))
        self._dampings = []
        return self._scratch

    def note_damping(self, k: int, damping: np.ndarray) -> None:
        """The damping from step k of the block on; told at its first step and where it changes."""
        self._dampings.append((k, damping))

    def before_sample(self) -> None:
        """The state, and what the computer wants.

        The step that follows evaluates the energies too.
        """
        row = self.count
        self.qpos[row], self.qvel[row] = self._begin
        for name, value in self.driver.watch().items():
            self.watched[name][row] = value
        self._option.enableflags = self.flags[1]

    def after_sample(self) -> None:
        """What the step found at its begin."""
        row, data = self.count, self.data
        self._option.enableflags = self.flags[0]
        self.effort[row], self.energy[row] = self._found
        found, waiting = data.ncon, self.waiting
        if found:
            seen, (a, b) = self._seen, waiting.room(found)
            waiting.geom[a:b], waiting.frame[a:b] = seen.geom, seen.frame
            waiting.force[a:b] = self._contact_forces(found)
            waiting.counts[row] = found
        self.count = row + 1

    def _contact_forces(self, found: int) -> np.ndarray:
        """Normal force and two tangential ones of each contact."""
        if self.plain and self.data.nefc >= 3 * found:  # contacts come last, with three rows each
            return self.data.efc_force[-3 * found :].reshape(found, 3)
        force, one = np.zeros((found, 3)), np.zeros(6)
        for k in range(found):
            self.mujoco.mj_contactForce(self.model, self.data, k, one)
            force[k] = one[:3]
        return force

    # ---- between blocks

    def add_work(self, made: int) -> None:
        """Sum the works of the block that ends with step `made`."""
        speeds, pushes, efforts = self._scratch
        dampings = self._block_damping(len(pushes))
        h = self.step
        # In place: fresh memory for every term would take as long as all the sums.
        middle, motors = self._terms
        np.add(speeds[1:], speeds[:-1], out=middle)
        middle *= 0.5
        np.subtract(speeds[:-1], speeds[1:], out=motors)
        motors *= dampings
        if self.limits is not None:  # MuJoCo drops the damping of a motor whose force it has to cut
            motors[np.abs(efforts) >= self.limits] = 0.0
        motors += efforts
        motors *= middle
        net = motors.sum(1)
        size = np.abs(motors, out=motors).sum(1)
        powers = [0.5 * (size + net), 0.5 * (net - size), np.einsum("ij,ij->i", pushes, middle)]
        if self.rubs:
            powers.append(-(self.model.dof_damping * speeds[1:] * middle).sum(1))
        power = np.stack(powers, axis=1)
        first = made - len(power)
        rows = np.arange(self.summed, self.count)
        at = rows * self.every - first  # where in the block each sample lies
        sums = np.concatenate([np.zeros((1, power.shape[1])), np.cumsum(power, axis=0)]) * h
        through = np.concatenate([[0.0], np.cumsum(np.abs(power).sum(1))]) * h
        self.power[rows], self.work[rows] = power[at], self.total + sums[at]
        self.flowed[rows] = self.passed + through[at]
        self.total, self.passed = self.total + sums[-1], self.passed + through[-1]
        self.summed = self.count

    def _block_damping(self, count: int) -> np.ndarray:
        """One row for all steps of a block, or a row for each where it changed in between."""
        if len(self._dampings) == 1:
            return self._dampings[0][1]
        begins = [k for k, _ in self._dampings]
        return np.repeat([d for _, d in self._dampings], np.diff([*begins, count]), axis=0)

    def look(self) -> Outcome:
        """Take the rows since the last look into the record.

        Up to where something ended the run.
        """
        self._resolve_contacts()
        begin, self.kept = self.kept, self.summed
        outcome = self._look(begin)
        if self.lost and outcome is Outcome.running:  # between two rows
            self.outcome = Outcome.diverged
        return self.outcome

    def finish(self, steps: int) -> None:
        """The row at the very end, where no step follows."""
        self.before_sample()
        self.mujoco.mj_forward(self.model, self.data)
        self.after_sample()
        row = self.count - 1
        self.t[row] = steps * self.step
        self.power[row], self.work[row], self.flowed[row] = (
            self.power[max(row - 1, 0)],
            self.total,
            self.passed,
        )
        self.summed = self.count
        self.look()

    def _resolve_contacts(self) -> None:
        """Forces on the watched geoms from all contacts that wait."""
        waiting, used = self.waiting, self.waiting.used
        samples = slice(self.first_waiting, self.count)
        self.first_waiting, waiting.used = self.count, 0
        if not used:
            return
        rows = np.repeat(np.arange(samples.start, samples.stop), waiting.counts[samples])
        push = np.einsum("ck,ckx->cx", waiting.force[:used], waiting.frame[:used].reshape(-1, 3, 3))
        # a contact's frame points from its first geom to its second.
        for side, sign in ((0, -1.0), (1, 1.0)):
            which = self.touching[waiting.geom[:used, side]]
            ours = which >= 0
            if ours.any():
                np.add.at(self.contact, (rows[ours], which[ours]), sign * push[ours])

    def _look(self, begin: int) -> Outcome:
        """The first row from `begin` on that is not finite or where an event has no room left ends
        the record.
        """
        rows = slice(begin, self.count)
        finite = (
            np.isfinite(self.qpos[rows]).all(1)
            & np.isfinite(self.qvel[rows]).all(1)
            & np.isfinite(self.energy[rows]).all(1)
        )
        ends = [(int(np.argmin(finite)), Outcome.diverged, -1)] if not finite.all() else []
        if finite.any():
            with np.errstate(invalid="ignore"):
                found = self.system.rooms(self.log(rows))
            for k, (event, room) in enumerate(zip(self.system.events, found, strict=True)):
                self.rooms[k, rows] = room
                gone = np.flatnonzero(room <= 0)
                if len(gone):
                    ends.append((int(gone[0]), event.outcome or Outcome.outside_model, k))
        if ends:
            row, self.outcome, self.cause = min(ends)
            # A row that is not finite tells nothing; one that ended the run does.
            self.count = self.summed = self.kept = (
                begin + row + (self.outcome is not Outcome.diverged)
            )
        return self.outcome

    # ---- at the end

    def log(self, rows: slice) -> Log:
        watched = {name: values[rows] for name, values in self.watched.items()}
        return Log(
            self.t[rows],
            self.qpos[rows],
            self.qvel[rows],
            self.effort[rows],
            self.contact[rows],
            watched,
        )

    def trajectory(self, outcome: Outcome, source: dict) -> Trajectory:
        """The record so far."""
        kept, system = self.kept, self.system
        rows = slice(0, kept)
        log, energy = self.log(rows), self.energy[rows]
        seen = RowStructs(
            BodiesState(qpos=log.qpos.T, qvel=log.qvel.T),
            system.counters(log),
            system.outputs(log),
            BodiesStores(kinetic=energy[:, 1], gravity=energy[:, 0]),
            self._ports(self.power[rows]),
            guards=tuple(self.rooms[:, rows]),
        )
        by_leg = [
            _by_leg(value, kept)
            for struct in (*seen[:5], self._ports(self.work[rows]))
            for _, value, _ in named_leaves(struct)
        ]
        values = np.concatenate(by_leg, dtype=float)
        one = jax.tree.map(lambda values: np.zeros(np.shape(values)[:-1]), seen)
        columns = named_columns(one, system.events)
        builder = Builder(system, columns, RowStream(), source)
        events = _events(seen.m, system.counted, log.t)
        mark = builder.add(Mark(), log.t.copy(), np.zeros(kept, int), values.T, events)
        t, passed = (float(log.t[-1]), self.flowed[kept - 1]) if kept else (0.0, 0.0)
        first, last = values.T[[0, -1]] if kept else np.zeros((2, len(values)))
        whole = outcome is Outcome.reached_end
        stand = Stand.at_rows(
            columns.signals,
            first,
            last,
            t=t,
            throughput=float(passed) + float(np.abs(np.diff(energy, axis=0)).sum()),
            least_room=((k, room[rows].min(initial=np.inf)) for k, room in enumerate(self.rooms)),
            cause=self.cause if self.cause >= 0 else None,
            steps=round(t / self.step) if whole else max(0, kept - 1) * self.every,
            tried=round(float(self.data.time) / self.step) if np.isfinite(self.data.time) else 0,
        )
        return builder.trajectory(mark, outcome, stand if kept else stand._replace(state=()))

    def _ports(self, values: np.ndarray) -> BodiesPower:
        return BodiesPower(*values[:, :3].T, values[:, 3] if self.rubs else None)


def _by_leg(values: Any, rows: int) -> np.ndarray:
    """A signal as (legs, rows): one leg where it is a number to a row."""
    legs = np.shape(values)[:-1]
    return np.broadcast_to(values, (*legs, rows)).reshape(math.prod(legs), rows)


#: mjENBL_ENERGY, which the engine need not be imported for.
ENERGY = 1 << 1


def _events(counters: Any, counted: tuple[str, ...], t: np.ndarray) -> tuple[EventRecord, ...]:
    """Each growth of a counter is an event of its name, seen at the sample after it."""
    found: list[EventRecord] = []
    for name, values, _ in named_leaves(counters):
        if name not in counted:
            continue
        several = np.ndim(values) > 1
        for leg, column in enumerate(values if several else [values]):
            rows = np.flatnonzero(np.diff(column) > 0) + 1
            found += [
                EventRecord(float(t[r]), name, leg if several else None, int(r) - 1, int(r))
                for r in rows
            ]
    return tuple(sorted(found, key=lambda e: (e.t, e.name, e.leg or 0)))
