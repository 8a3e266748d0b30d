"""Designs listed in a user's file, checked and turned into SI once, at the door.

CSV or Parquet; column names are key paths.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import Knob, find_knob
from footfall.sweep.designs import TABLE, Axis, Table
from footfall.sweep.files import write_aside
from footfall.sweep.parse import require_different, to_number
from footfall.sweep.shards import digest

MOST_FILE = 2**31  # bytes: a designs file is read whole


def read_designs(experiment: Experiment, path: Path) -> Table:
    """The designs of a file. Numbers are SI; a cell may say "4 deg"."""
    where = f"--designs {path}"
    table = _read(path, where)
    if not table.num_columns or not table.num_rows:
        raise ScenarioError(
            f"{where}: there are no designs in it. The first line names the keys, each further line"
            " is a design."
        )
    axes, columns = [], {}
    for name in table.column_names:
        if not name.strip():
            raise ScenarioError(
                f"{where}: a column has no name; name it by its key, such as leg.stiffness."
            )
        if ";" in name and table.num_columns == 1:
            raise ScenarioError(f"{where}: the separator must be a comma, not a semicolon.")
        try:
            knob = find_knob(experiment, name, where)
        except ScenarioError as error:
            raise ScenarioError(
                f"{error}\n  Every column must be named by a key, such as leg.stiffness."
            ) from None
        columns[name] = _column(knob, table[name], where, _Rows(path.suffix.lower() == ".csv"))
        axes.append(Axis(name, ".".join(knob.path), knob.unit, structural=knob.structural))
    require_different(axes, f"{where}:")
    return Table(tuple(axes), columns, digest(columns))


def write_designs(designs: Table, folder: Path) -> None:
    """Keep the designs in the sweep's folder, so that it needs nothing else."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array(values) for name, values in designs.held.items()})
    write_aside(folder / TABLE, lambda aside: pq.write_table(table, aside))


def _read(path: Path, where: str) -> Any:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        size = path.stat().st_size
        if size > MOST_FILE:
            raise ScenarioError(
                f"{where}: {size / 1e9:.1f} GB is too large; vary by ranges instead, which need no"
                " memory."
            )
        match path.suffix.lower():
            case ".csv":
                # Only what is left out is empty; "nan" is a number, and not a finite one.
                return pyarrow.csv.read_csv(
                    path,
                    convert_options=pyarrow.csv.ConvertOptions(
                        null_values=[""], strings_can_be_null=True
                    ),
                )
            case ".parquet":
                return pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise ScenarioError(f"{where}: there is no such file.") from None
    except OSError as error:
        raise ScenarioError(f"{where}: cannot be read ({error.strerror or error}).") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ScenarioError(f"{where}: this is not a {path.suffix[1:]} table: {error}") from None
    raise ScenarioError(f"{where}: designs come as .csv or .parquet.")


class _Rows(NamedTuple):
    """How to name a row.

    A person looks for the line of a text file, whose first line names the columns.
    """

    of_text: bool

    def name(self, row: int) -> str:
        return f"design {row} (line {row + 2})" if self.of_text else f"design {row}"


def _column(knob: Knob, column: Any, where: str, rows: _Rows) -> np.ndarray:
    import pyarrow as pa

    if column.null_count:
        row = int(np.argmin(column.is_valid().to_numpy()))
        raise ScenarioError(f"{where}: {knob.name} is empty in {rows.name(row)}.")
    kind = column.type
    words = (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    )
    if not knob.number:
        return np.asarray(column.to_pylist(), dtype=object).astype(str).astype(object)
    if words:
        texts = np.asarray(column.to_pylist(), dtype=object)
        different, first, place = np.unique(
            texts.astype(str), return_index=True, return_inverse=True
        )
        order = np.argsort(first)  # so that the first wrong cell is the one that is named
        numbers = np.empty(len(different))
        for i in order:
            numbers[i] = to_number(
                knob, str(different[i]), f"{where}: {knob.name} in {rows.name(int(first[i]))}"
            )
        values = numbers[place]
    elif pa.types.is_floating(kind) or pa.types.is_integer(kind):
        values = column.to_numpy().astype(float)
    else:
        raise ScenarioError(
            f"{where}: {knob.name} should be a number, but the column holds {kind}."
        )
    allowed = knob.info.allows_each(values)
    if not np.all(allowed):
        row = int(np.argmin(allowed))
        unit = f" {knob.unit}" if knob.unit else ""
        need = (knob.info.bounds() if np.isfinite(values[row]) else "") or "a finite number"
        raise ScenarioError(
            f"{where}: {knob.name} = {values[row]:g}{unit} in {rows.name(row)}: {knob.info.doc}"
            f" must be {need}."
        )
    if knob.structural and np.all(values == np.floor(values)):
        return values.astype(np.int64)
    return values
