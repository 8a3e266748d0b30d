"""Curves over the phase of a step: a constant, Bezier, B-spline, Fourier.

Every coefficient is a parameter of its own, so that sweeps, designs and derivatives take it.
"""

from footfall.hybrid.fields import param
from footfall.machines.parts.curves.base import AbstractPhaseCurve
from footfall.numerics.bases import bezier, cubic_b_spline, fourier
from footfall.numerics.namespace import clamp
from footfall.numerics.scalar import Scalar


class ConstantCurve(AbstractPhaseCurve):
    """The same over the whole step."""

    level: Scalar = param(0.0, doc="what is commanded")

    def value(self, phase: Scalar) -> Scalar:
        return self.level + 0.0 * phase


class BezierCurve(AbstractPhaseCurve):
    """A Bezier curve of degree five: it begins at p0 and ends at p5, with slopes 5 (p1 - p0) and
    5 (p5 - p4), and stays between its least and largest point.
    """

    p0: Scalar = param(0.0, doc="first point: the value at the begin")
    p1: Scalar = param(0.0, doc="second point")
    p2: Scalar = param(0.0, doc="third point")
    p3: Scalar = param(0.0, doc="fourth point")
    p4: Scalar = param(0.0, doc="fifth point")
    p5: Scalar = param(0.0, doc="last point: the value at the end")

    def value(self, phase: Scalar) -> Scalar:
        points = (self.p0, self.p1, self.p2, self.p3, self.p4, self.p5)
        return bezier(points, clamp(phase, 0.0, 1.0))


class BSplineCurve(AbstractPhaseCurve):
    """A cubic B-spline of eight points over five equal spans, from p0 to p7: a point moves the
    curve near it and nowhere else.
    """

    p0: Scalar = param(0.0, doc="first point: the value at the begin")
    p1: Scalar = param(0.0, doc="second point")
    p2: Scalar = param(0.0, doc="third point")
    p3: Scalar = param(0.0, doc="fourth point")
    p4: Scalar = param(0.0, doc="fifth point")
    p5: Scalar = param(0.0, doc="sixth point")
    p6: Scalar = param(0.0, doc="seventh point")
    p7: Scalar = param(0.0, doc="last point: the value at the end")

    def value(self, phase: Scalar) -> Scalar:
        points = (self.p0, self.p1, self.p2, self.p3, self.p4, self.p5, self.p6, self.p7)
        return cubic_b_spline(points, clamp(phase, 0.0, 1.0))


class FourierCurve(AbstractPhaseCurve):
    """A mean and three waves, mean + sum of cos_k cos(2 pi k s) + sin_k sin(2 pi k s): periodic."""

    mean: Scalar = param(0.0, doc="mean over a step")
    cos1: Scalar = param(0.0, doc="of the cosine, once a step")
    sin1: Scalar = param(0.0, doc="of the sine, once a step")
    cos2: Scalar = param(0.0, doc="of the cosine, twice a step")
    sin2: Scalar = param(0.0, doc="of the sine, twice a step")
    cos3: Scalar = param(0.0, doc="of the cosine, three times a step")
    sin3: Scalar = param(0.0, doc="of the sine, three times a step")

    def value(self, phase: Scalar) -> Scalar:
        waves = ((self.cos1, self.sin1), (self.cos2, self.sin2), (self.cos3, self.sin3))
        return fourier(self.mean, waves, phase)
