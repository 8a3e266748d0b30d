"""What one column of a record holds."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Signal:
    """What one column holds."""

    name: str
    unit: str
    doc: str
    #: "state", "discrete", "output", "store", "power", "work", "jump_work" or "statistic".
    role: str
    rate_of: str | None = None  #: the signal whose time derivative this is
    group: str = ""  #: the body, leg or motor an output belongs to
    kind: str = ""  #: of works: "work" or "loss"

    @property
    def leaf(self) -> str:
        """The name within its group."""
        return self.name.removeprefix(f"{self.group}.") if self.group else self.name

    @property
    def label(self) -> str:
        """Name with unit, for an axis."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name
