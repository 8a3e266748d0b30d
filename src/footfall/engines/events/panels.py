"""Outputs inside the steps of one compiled call: their integrals, squares and peaks at any row."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from footfall.numerics import panel

#: A step with a kink in it (a torque reaches its limit) is halved this often at most, and so is the
#: half that has it ...
MOST_HALVINGS = 12
#: ... as long as there are no more panels than so many for a step.
MOST_PANELS = 64


class Panels(NamedTuple):
    """The steps of one call, and what the outputs worth statistics were at the nodes of each."""

    start: np.ndarray
    tau: np.ndarray
    event_row: np.ndarray  #: events of this call that came before the step
    values: np.ndarray  #: (steps, nodes, outputs)

    def places(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step that each time lies in, and how much of it is over."""
        step = np.clip(np.searchsorted(self.start, t, side="right") - 1, 0, len(self.start) - 1)
        length = np.where(self.tau > 0, self.tau, 1.0)[step]
        return step, np.clip((t - self.start[step]) / length, 0.0, 1.0)

    def halved(self, look: Callable[[np.ndarray], np.ndarray]) -> "Panels":
        """With panels halved where a polynomial says too little, such as at a kink.

        `look` gives the values at times inside of steps.
        """
        panels, most = self, MOST_PANELS * len(self.start)
        size, usual = np.abs(self.values).max(axis=(0, 1), initial=0.0), np.mean(self.tau) or 1.0
        for _ in range(MOST_HALVINGS):
            # What a panel adds to an integral, as if all were of the usual length.
            wrong = panel.doubt(panels.values) * np.minimum(1.0, panels.tau / usual)[:, None]
            rough = np.any(wrong > panel.WRONG * size, axis=1)
            if not rough.any() or len(panels.start) + rough.sum() > most:
                break
            panels = panels._halve(rough, look)
        return panels

    def _halve(self, rough: np.ndarray, look: Callable[[np.ndarray], np.ndarray]) -> "Panels":
        start, tau, event_row, values = (np.repeat(v, 1 + rough, axis=0) for v in self)
        first = np.flatnonzero(np.repeat(rough, 1 + rough))[::2]
        halves = np.stack([first, first + 1])
        tau[halves] *= 0.5
        start[first + 1] += tau[first]
        middle = values[first, panel.COUNT // 2]
        times = start[halves][..., None] + tau[halves][..., None] * panel.NODES[1:-1]
        values[halves, 1:-1] = look(times.ravel()).reshape(*times.shape, -1)
        values[first, -1], values[first + 1, 0] = middle, middle
        return Panels(start, tau, event_row, values)


def statistics(
    panels: Panels | None, t: np.ndarray, passed: np.ndarray, totals: np.ndarray, peaks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of the rows at `t`, after so many `passed` events.

    Integrals so far, of the values and of their squares, and the largest sizes in steps that ended
    since the row before; and what there is of each at the end.
    """
    if panels is None or not len(panels.start):
        running, held = np.tile(totals, (len(t), 1)), np.zeros((len(t), len(peaks)))
        held[:1], left = peaks, (peaks if not len(t) else 0.0 * peaks)
        return np.concatenate([running, held], axis=1), totals, left
    start, tau, event_row, values = panels
    values = values[:, :, : len(peaks)]
    both = np.concatenate([values, values * values], axis=2)
    sums = tau[:, None] * (panel.WEIGHTS @ both)
    begun = totals + np.concatenate([np.zeros((1, len(totals))), np.cumsum(sums, axis=0)])
    step, place = panels.places(t)
    running = begun[step] + tau[step, None] * np.einsum(
        "rn,rnf->rf", panel.running_weights(place), both[step]
    )
    whole = place >= 1.0
    running[whole] = begun[step[whole] + 1]
    # The row that follows the end of a step, before the next event; what is left over waits for the
    # next row.
    over = np.concatenate([panel.largest(values), np.zeros((len(t), len(peaks)))])
    is_row = np.concatenate([np.zeros(len(start), bool), np.ones(len(t), bool)])
    # An event is where its step ended, but for rounding.
    when = np.concatenate([start + tau * (1 - 1e-12), t])
    order = np.lexsort((is_row, when, np.concatenate([event_row, passed])))
    over, is_row = over[order], is_row[order]
    over[0] = np.maximum(over[0], peaks)
    begins = np.concatenate([[0], np.flatnonzero(is_row) + 1])
    held = np.maximum.reduceat(np.concatenate([over, np.zeros((1, len(peaks)))]), begins, axis=0)
    return np.concatenate([running, held[:-1]], axis=1), begun[-1], held[-1]


def part_work(
    panels: Panels, output: int, sign: float, t: np.ndarray, begun: float
) -> tuple[np.ndarray, float]:
    """Work through a port that is the positive or the negative part of an output.

    At the rows and at the end, integrated from zero to zero.
    """
    step, place = panels.places(t)
    values = sign * panels.values[:, :, output]
    low, high = panel.bounds(values)
    values = np.where(high[:, None] > 0, values, 0.0)
    sums, inside = (
        values @ panel.WEIGHTS,
        np.einsum("rn,rn->r", panel.running_weights(place), values[step]),
    )
    for i in np.flatnonzero((low < 0) & (high > 0)):
        rows = np.flatnonzero(step == i)
        found = panel.positive_part(values[i], np.append(place[rows], 1.0))
        inside[rows], sums[i] = found[:-1], found[-1]
    before = np.concatenate([[0.0], np.cumsum(panels.tau * sums)])
    return begun + sign * (before[step] + panels.tau[step] * inside), begun + sign * float(
        before[-1]
    )
