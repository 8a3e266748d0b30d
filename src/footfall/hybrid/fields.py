"""A field with its unit, bounds and meaning.

One declaration that the scenario schema, the tables and the plots read.
"""

import dataclasses
import difflib
import itertools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import equinox as eqx
import numpy as np

_KEY = "footfall"
#: A longer word is no misspelt name.
LONGEST_NAME = 100


@dataclasses.dataclass(frozen=True)
class FieldInfo:
    """What a field declares about itself."""

    # "param", "choice", "numbers", "switches", "text", "signal", "port", "store" or "part".
    role: str
    unit: str
    doc: str
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    rate_of: str | None = None
    kind: str | None = None  # ports: "work" or "loss"
    # Ports: the output whose positive (work) or negative part (loss) they are.
    part_of: str | None = None
    options: tuple[str, ...] = ()  # choices and switches
    makes: Callable[[str], Any] | None = None  # choices: what a name stands for
    increasing: bool = False  # lists of numbers
    fast: bool = False  # states that move on a shorter time scale than the rest

    def bounds(self) -> str:
        """The allowed range in words, or an empty string."""
        said = [
            f"{op} {v:g}"
            for op, v in ((">", self.gt), (">=", self.ge), ("<", self.lt), ("<=", self.le))
            if v is not None
        ]
        return " and ".join(said)

    def allows(self, value: float) -> bool:
        """Whether a concrete number lies inside the bounds; NaN and infinity never do."""
        return bool(self.allows_each(np.asarray(value, dtype=float)))

    def allows_each(self, values: np.ndarray) -> np.ndarray:
        """The same for an array, number by number."""
        allowed = np.isfinite(values)
        for bound, holds in (
            (self.gt, np.greater),
            (self.ge, np.greater_equal),
            (self.lt, np.less),
            (self.le, np.less_equal),
        ):
            if bound is not None:
                allowed &= holds(values, bound)
        return allowed


class ParameterError(ValueError):
    """A parameter outside its bounds. `field` names it, so that a loader can point at the key.

    `lane` is the place of the (first or worst) bad value in an array of them, None where there is
    one value for all.
    """

    def __init__(self, message: str, field: str, lane: int | None = None):
        super().__init__(message)
        self.field = field
        self.lane = lane


_MISSING: Any = dataclasses.MISSING


def param(
    default: Any = _MISSING,
    *,
    unit: str = "",
    doc: str,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    static: bool = False,
) -> Any:
    """A number a user may set.

    `static` is for what changes shapes or structure (spoke count), never for stiffness.

    A default of None means "derived when not given"; the docstring then says from what.
    """
    info = FieldInfo("param", unit, doc, gt, ge, lt, le)
    return eqx.field(static=static, metadata={_KEY: info}, **_default(default))


def choice(
    default: str, *, options: Iterable[str], doc: str, makes: Callable[[str], Any] | None = None
) -> Any:
    """A named option, static because it selects code.

    `makes` gives what a name stands for, where the field holds that: an object that has no name
    may be given too, and is checked by whoever declares the field.
    """
    info = FieldInfo("choice", "", doc, options=tuple(options), makes=makes)
    more = {"converter": lambda v: makes(v) if isinstance(v, str) else v} if makes else {}
    return eqx.field(static=True, metadata={_KEY: info}, default=default, **more)


def shared(owner: type, name: str, default: Any = _MISSING, *, required: bool = False) -> Any:
    """A field that another struct declares: the same unit, bounds, meaning and default.

    The default may be another one here, or none where the field is `required`.
    """
    field = owner.__dataclass_fields__[name]
    given = default if required or default is not _MISSING else field.default
    return dataclasses.field(metadata=field.metadata, **_default(given))


def numbers(
    default: Iterable[float],
    *,
    unit: str = "",
    doc: str,
    increasing: bool = False,
    gt: float | None = None,
) -> Any:
    """A list of numbers a user may set: static, because its length is structure."""
    info = FieldInfo("numbers", unit, doc, gt, increasing=increasing)
    return eqx.field(
        static=True,
        converter=lambda v: tuple(float(n) for n in v),
        metadata={_KEY: info},
        default=tuple(default),
    )


def switches(default: Iterable[str], *, options: Iterable[str], doc: str) -> Any:
    """Which of several things are on.

    A list of names for a user, one number (1 or 0) for each option in the model.

    The numbers are not static, so that robots with other switches are the same program and can be
    lanes of one batch.
    """
    known = tuple(options)
    info = FieldInfo("switches", "", doc, options=known)
    return eqx.field(
        converter=lambda given: _switched(given, info),
        metadata={_KEY: info},
        default=tuple(default),
    )


def switched_names(values: Iterable[Any], options: Iterable[str]) -> list[str]:
    """The names of what is on."""
    return [name for name, value in zip(options, values, strict=True) if value]


def _switched(given: Any, info: FieldInfo) -> tuple[Any, ...]:
    """Numbers from names; numbers (or lanes of them) stay."""
    words = [given] if isinstance(given, str) else list(given)
    if len(words) == len(info.options) and not any(isinstance(word, str) for word in words):
        return tuple(words)
    for word in words:
        if word not in info.options:
            known = ", ".join(info.options)
            raise ParameterError(
                f"{word!r} is not one of: {known}.{nearest(str(word), info.options)}", "switches"
            )
    return tuple(1.0 if name in words else 0.0 for name in info.options)


def text(default: str, *, doc: str) -> Any:
    """Words a user may set, which the part reads for itself."""
    return eqx.field(static=True, metadata={_KEY: FieldInfo("text", "", doc)}, default=default)


def part(*, doc: str, default_factory: Callable[[], Any] | None = None) -> Any:
    """A slot: a field that holds another part."""
    more = {} if default_factory is None else {"default_factory": default_factory}
    return eqx.field(metadata={_KEY: FieldInfo("part", "", doc)}, **more)


def signal(
    default: Any = _MISSING,
    *,
    unit: str = "",
    doc: str,
    rate_of: str | None = None,
    fast: bool = False,
) -> Any:
    """A quantity of a state or of the outputs.

    `rate_of` names the sibling field whose time derivative it is.

    `fast` marks a state that moves on a shorter time scale than the rest (a light foot against its
    body): a multirate integrator gives those shorter steps.
    """
    return eqx.field(
        metadata={_KEY: FieldInfo("signal", unit, doc, rate_of=rate_of, fast=fast)},
        **_default(default),
    )


def port(*, kind: str, doc: str, unit: str = "W", part_of: str | None = None) -> Any:
    """A way for energy to enter (+) or leave (-) the stores.

    `kind` is "work" (actuators) or "loss" (never positive).

    `part_of` names the output, a power, whose positive part (work) or negative part (loss) the port
    is: a motor while it drives and while it brakes. Such a port has a kink wherever the power
    changes its sign, and is integrated from zero to zero.
    """
    if kind not in ("work", "loss"):
        raise ValueError(f'a port is "work" or "loss", not {kind!r}')
    return eqx.field(metadata={_KEY: FieldInfo("port", unit, doc, kind=kind, part_of=part_of)})


def store(*, doc: str) -> Any:
    """A place where energy is kept: kinetic, gravity, a spring."""
    return eqx.field(metadata={_KEY: FieldInfo("store", "J", doc)})


def _default(default: Any) -> Mapping[str, Any]:
    return {} if default is _MISSING else {"default": default}


def describe(struct: Any) -> dict[str, FieldInfo]:
    """Field name -> declaration, for a class or an instance.

    Of `param`, `signal`, `port` and `store` fields.
    """
    return {f.name: f.metadata[_KEY] for f in dataclasses.fields(struct) if _KEY in f.metadata}


def nearest(name: str, known: Iterable[str]) -> str:
    """' Did you mean "arc"?', or nothing when no known name is near."""
    if len(name) > LONGEST_NAME:
        return ""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f' Did you mean "{close[0]}"?' if close else ""


class Parametric(eqx.Module):
    """Base of everything that has `param` fields.

    An immutable pytree whose numbers are checked when it is made.

    Only concrete numbers are checked. Inside a compiled function the values are not known; there,
    what is checked was checked at the door.

    A part may have `features` that not every robot can use; a robot that cannot use one says why in
    its `refuses`.
    """

    features: ClassVar[frozenset[str]] = frozenset()
    refuses: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __check_init__(self) -> None:
        for name, info in describe(self).items():
            value = getattr(self, name)
            if info.role == "part":
                require_taken(type(self), name, value)
            if info.role == "choice" and info.makes is None and value not in info.options:
                known = ", ".join(info.options)
                raise ParameterError(
                    f'{type(self).__name__}.{name} = "{value}" is not an option. Known:'
                    f" {known}.{nearest(str(value), info.options)}",
                    name,
                )
            if info.role == "switches":
                _check_switches(type(self).__name__, name, info, value)
            if info.role == "param":
                _check_number(type(self).__name__, name, info, value)
            if info.role == "numbers":
                _check_numbers(type(self).__name__, name, info, value)
        self.require_together()

    def require_together(self) -> None:
        """Raise ParameterError for numbers that do not fit together, each being inside its own
        bounds.
        """


def refusal(robot: type, part: type) -> str | None:
    """Why a robot does not take a kind of part, in its own words; None where it does."""
    reasons = getattr(robot, "refuses", {})
    return next(
        (
            reasons[feature]
            for feature in sorted(getattr(part, "features", ()))
            if feature in reasons
        ),
        None,
    )


def require_taken(robot: type, slot: str, part: Any) -> None:
    """A part that its robot does not take is an error with the robot's reason."""
    reason = refusal(robot, type(part))
    if reason:
        raise ParameterError(
            f"{robot.__name__} takes no {slot} {type(part).__name__}: {reason}.", slot
        )


def _check_switches(owner: str, name: str, info: FieldInfo, values: tuple[Any, ...]) -> None:
    """On or off: nothing between."""
    for option, value in zip(info.options, values, strict=True):
        if isinstance(value, int | float | np.ndarray | np.generic):
            between = ~np.isin(np.asarray(value, float), (0.0, 1.0))
            if np.any(between):
                lane = int(np.argmax(between)) if between.ndim else None
                raise ParameterError(
                    f"{owner}.{name}: {option} is on, 1, or off, 0, and nothing between.",
                    name,
                    lane,
                )


def _check_numbers(owner: str, name: str, info: FieldInfo, values: tuple[float, ...]) -> None:
    bad = [v for v in values if not info.allows(v)]
    if bad:
        need = info.bounds()
        said = f"out of range: must be {need}" if need else "not a finite number"
        raise ParameterError(f"{owner}.{name}: {bad[0]:g} is {said}.", name)
    if info.increasing and any(b <= a for a, b in itertools.pairwise(values)):
        listed = ", ".join(f"{v:g}" for v in values)
        raise ParameterError(f"{owner}.{name} = [{listed}] must increase: {info.doc}.", name)


def _check_number(owner: str, name: str, info: FieldInfo, value: Any) -> None:
    if value is None or not isinstance(value, int | float | np.ndarray | np.generic):
        return  # derived later, or traced: nothing to check here
    numbers = np.asarray(value, dtype=float)
    allowed = info.allows_each(numbers)
    if np.all(allowed):
        return
    bad = int(np.argmin(allowed))  # the first
    unit = f" {info.unit}" if info.unit else ""
    need = info.bounds() or "a finite number"
    message = (
        f"{owner}.{name} = {numbers.flat[bad]:g}{unit} is out of range: {info.doc} must be {need}."
    )
    raise ParameterError(message, name, bad if numbers.ndim else None)
