"""The smallest push that ends a gait: how far the edge is, along each axis and nearest of all."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from footfall.engines.analysis.walking import NO_START, WALKS

#: Points on a ray at a time, and how often the piece with the edge is looked at so finely.
SAMPLES, ROUNDS = 16, 4
#: Rays round the gait, of a plane; in steps of 11 degrees the nearest edge is at most 0.5 % nearer.
RAYS = 32

#: Offsets (points, axes), in shares of the box -> what robots there do.
Words = Callable[[np.ndarray], np.ndarray]


class Ray(NamedTuple):
    """A direction from the gait, and where the walking ends along it."""

    direction: np.ndarray  #: in shares of the box, of length one
    distance: float  #: the same; infinite where no edge was found
    beyond: str  #: what it does there instead; empty where no edge was found
    searched: float  #: how far

    @property
    def offset(self) -> np.ndarray:
        """In shares of the box."""
        return self.direction * self.distance


def rays(axes: int) -> np.ndarray:
    """Directions: of one axis both ways; of two, all round, both axes first."""
    if axes == 1:
        return np.array([[-1.0], [1.0]])
    turns = np.arange(RAYS) / RAYS
    quarter = RAYS // 4
    order = np.argsort(np.arange(RAYS) % quarter != 0, kind="stable")
    angle = 2.0 * math.pi * turns[order]
    # Exactly along the axes: what is not pushed is to stay.
    return np.round(np.stack([np.cos(angle), np.sin(angle)], axis=1), 15)


def find_edges(axes: int, words: Words, *, along_axes: bool = False) -> list[Ray] | None:
    """Along every ray, the first place where it no longer walks; None if the gait does not.

    A stretch between two samples in which it does not walk may be missed: 1/16 of the box. Where
    there is no such start, the search ends. Followed to the end are the axes, and what may turn out
    to be the nearest of all. `along_axes`: no other rays, for robots that take long.
    """
    towards = rays(axes)[: 2 * axes] if along_axes else rays(axes)
    low, high = np.zeros(len(towards)), np.full(len(towards), np.inf)
    beyond, searched = np.full(len(towards), "", object), np.ones(len(towards))
    followed = np.arange(len(towards))
    for turn in range(ROUNDS):
        begin = low[followed]
        end = np.ones(len(followed)) if turn == 0 else high[followed]
        radii = begin[:, None] + (end - begin)[:, None] * np.arange(1, SAMPLES + 1) / SAMPLES
        points = (radii[..., None] * towards[followed][:, None, :]).reshape(-1, axes)
        # The gait itself, with them each time: a batch of its own would cost as much.
        words_there = words(np.concatenate([np.zeros((1, axes)), points]))
        if words_there[0] != WALKS:
            return None
        found = words_there[1:].reshape(radii.shape)
        for n, ray in enumerate(followed):
            ends = np.flatnonzero(found[n] != WALKS)
            if not len(ends):
                continue
            k = ends[0]
            low[ray] = radii[n, k - 1] if k else begin[n]
            none = found[n, k] == NO_START
            searched[ray] = low[ray] if none else radii[n, k]
            high[ray], beyond[ray] = (np.inf, "") if none else (radii[n, k], found[n, k])
        along = np.arange(len(towards)) < 2 * axes
        followed = np.flatnonzero(np.isfinite(high) & (along | (low < np.min(high))))
        if not len(followed):
            break
    middle = 0.5 * (low + high)
    rows = zip(towards, middle.tolist(), beyond.tolist(), searched.tolist(), strict=True)
    return [Ray(*row) for row in rows]


def nearest(found: list[Ray]) -> Ray:
    """The one whose edge is nearest."""
    return min(found, key=lambda ray: ray.distance)
