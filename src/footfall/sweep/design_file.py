"""Designs listed in a user's file (CSV or Parquet; column names are key paths), checked and turned into SI once, at the door."""

from pathlib import Path
from typing import Any

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
            f"{where}: there are no designs in it. The first line names the keys, each further line is a design."
        )
    axes, columns = [], {}
    for name in table.column_names:
        if not name.strip():
            raise ScenarioError(f"{where}: a column has no name; name it by its key, such as leg.stiffness.")
        knob = find_knob(experiment, name, where)
        columns[name] = _column(knob, table[name], where)
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
            raise ScenarioError(f"{where}: {size / 1e9:.1f} GB is too large; vary by ranges instead, which need no memory.")
        match path.suffix.lower():
            case ".csv":
                return pyarrow.csv.read_csv(path)
            case ".parquet":
                return pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise ScenarioError(f"{where}: there is no such file.") from None
    except OSError as error:
        raise ScenarioError(f"{where}: cannot be read ({error.strerror or error}).") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ScenarioError(f"{where}: this is not a {path.suffix[1:]} table: {error}") from None
    raise ScenarioError(f"{where}: designs come as .csv or .parquet.")


def _column(knob: Knob, column: Any, where: str) -> np.ndarray:
    import pyarrow as pa

    if column.null_count:
        row = int(np.argmin(column.is_valid().to_numpy()))
        raise ScenarioError(f"{where}: {knob.name} is empty in design {row}.")
    kind = column.type
    words = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)
    if not knob.number:
        return np.asarray(column.to_pylist(), dtype=object).astype(str).astype(object)
    if words:
        texts = np.asarray(column.to_pylist(), dtype=object)
        different, place = np.unique(texts.astype(str), return_inverse=True)
        values = np.array([to_number(knob, word, f"{where}: {knob.name}") for word in different])[place]
    elif pa.types.is_floating(kind) or pa.types.is_integer(kind):
        values = column.to_numpy().astype(float)
    else:
        raise ScenarioError(f"{where}: {knob.name} should be a number, but the column holds {kind}.")
    allowed = knob.info.allows_each(values)
    if not np.all(allowed):
        row = int(np.argmin(allowed))
        unit = f" {knob.unit}" if knob.unit else ""
        need = knob.info.bounds() or "a finite number"
        raise ScenarioError(f"{where}: {knob.name} = {values[row]:g}{unit} in design {row}: {knob.info.doc} must be {need}.")
    if knob.structural and np.all(values == np.floor(values)):
        return values.astype(np.int64)
    return values
