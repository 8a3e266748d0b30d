"""The one builder of records: what counts of what an engine handed over, and how its books read."""

import equinox as eqx
import numpy as np
import pytest

from footfall.hybrid.fields import port, signal, store
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event
from footfall.record.builder import Builder, Mark, Stand
from footfall.record.columns import RowStructs, named_columns
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import EventRecord


class Place(eqx.Module):
    x: object = signal(unit="m", doc="place")


class Feet(eqx.Module):
    force: object = signal(unit="N", doc="of each foot")
    rate: object = signal(unit="N/s", doc="of the force", rate_of="force")


class Seen(eqx.Module):
    foot: Feet


class Stores(eqx.Module):
    kinetic: object = store(doc="of the body")


class Power(eqx.Module):
    motor: object = port(kind="work", doc="of the motor")
    drag: object = port(kind="loss", doc="of the air")


class Work(eqx.Module):
    impact: object = port(kind="loss", unit="J", doc="of landings")


class Machine:
    @property
    def events(self):
        return EVENTS

    def drawing(self):
        return "how it looks"

    def travel(self):
        return None


ONE = RowStructs(
    Place(0.0),
    Place(0),
    Seen(Feet(np.zeros(2), np.zeros(2))),
    Stores(0.0),
    Power(0.0, 0.0),
    Work(0.0),
    (np.zeros(2), 0.0),
)
EVENTS = (
    Event("landing", "a foot pushes no more", push=True),
    Event("end", "it ends", Outcome.fell),
)
STAND = Stand(
    t=2.0,
    state=[7.0],
    stored_start=[1.0],
    stored_end=[2.5],
    through=[3.0, -1.0],
    jump_work=[-0.5],
    throughput=6.0,
    least_room=[(0, 0.25), (0, -0.125), (1, 4.0)],
    cause=1,
    steps=20,
    tried=24,
    jumps=1,
)


@pytest.fixture
def columns():
    return named_columns(ONE, EVENTS)


def rows(columns, begin, end):
    t = np.arange(begin, end, dtype=float)
    return t, np.zeros(len(t), int), np.outer(t, np.ones(len(columns.signals)))


def test_columns_are_named_for_what_they_hold_leg_by_leg(columns):
    assert [s.name for s in columns.signals] == [
        *("x", "x", "foot.force.0", "foot.force.1", "foot.rate.0", "foot.rate.1", "store.kinetic"),
        *("power.motor", "power.drag", "work.motor", "work.drag", "jump_work.impact"),
    ]
    assert [s.rate_of for s in columns.signals[4:6]] == ["foot.force.0", "foot.force.1"]
    assert [s.unit for s in columns.signals[-5:]] == ["W", "W", "J", "J", "J"]
    assert columns.guards == [(0, 0), (0, 1), (1, None)]
    assert columns.terminal.tolist() == [False, True]


def test_books_and_ending_are_those_of_where_the_run_stood(columns):
    builder = Builder(Machine(), columns, RowStream(), {"engine": "mine"})
    mark = builder.add(Mark(), *rows(columns, 0, 3))
    run = builder.trajectory(mark, Outcome.fell, STAND, note="as it does here")
    books = run.ledger
    assert (books.work, books.losses) == ({"motor": 3.0}, {"drag": 1.0})
    assert (books.jump_work, books.jump_losses) == ({}, {"impact": 0.5})
    assert books.residual == 0.0 and books.throughput == 6.0
    assert run.least_room == {"landing": -0.125, "end": 4.0}
    assert run.least_pushes == {"landing": -0.125}
    assert run.ending.state == {"x": 7.0} and run.ending.event == "end"
    assert run.ending.meaning == "as it does here" and run.drawing == "how it looks"


def test_what_ctrl_c_cut_short_does_not_count_and_may_be_handed_over_again(columns):
    builder = Builder(Machine(), columns, RowStream(), {})
    begun = builder.add(Mark(), *rows(columns, 0, 2), [EventRecord(0.5, "landing", 0, 0, 1)])
    later = [EventRecord(2.5, "landing", 1, 2, 3)]
    builder.add(begun, *rows(columns, 2, 4), later)  # Ctrl-C: nobody kept the mark
    again = builder.add(begun, *rows(columns, 2, 4), later)
    whole = builder.trajectory(again, Outcome.reached_end, STAND)
    assert whole.t.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert [e.t for e in whole.events] == [0.5, 2.5]

    builder = Builder(Machine(), columns, RowStream(), {})
    begun = builder.add(Mark(), *rows(columns, 0, 2), [EventRecord(0.5, "landing", 0, 0, 1)])
    builder.add(begun, *rows(columns, 2, 4), later)
    cut = builder.trajectory(begun, Outcome.interrupted, STAND)
    assert cut.t.tolist() == [0.0, 1.0] and [e.t for e in cut.events] == [0.5]
