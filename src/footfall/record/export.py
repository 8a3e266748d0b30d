"""A trajectory as tables: Parquet, CSV, NetCDF."""

import io
from pathlib import Path
from typing import IO

import numpy as np

from footfall.record.row_stream import StreamedColumns, schema_of
from footfall.record.trajectory import Trajectory

#: Rows of text made at a time.
_AT_ONCE = 4096


def write_csv(run: Trajectory, stream: IO[bytes]) -> None:
    """One row per sample, each number to its last bit, the unit behind the name of its column."""
    header = ["t [s]", "j", *(signal.label for signal in run.signals.values())]
    stream.write((",".join(header) + "\n").encode())
    for first in range(0, len(run.t), _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        columns = [run.t[rows], run.j[rows], *(run.columns[name][rows] for name in run.signals)]
        kept = [column.tolist() for column in columns]
        lines = (",".join(map(repr, row)) for row in zip(*kept, strict=True))
        stream.write(("\n".join(lines) + "\n").encode())


def write_netcdf(run: Trajectory, stream: IO[bytes]) -> None:
    """NetCDF 3 with 64-bit offsets: every column over `sample`, with unit and meaning."""
    from scipy.io import netcdf_file

    own = io.BytesIO()  # which it closes
    file = netcdf_file(own, "w", version=2)
    file.createDimension("sample", len(run.t))
    columns = [("t", run.t, "s", "time"), ("j", run.j, "", "jumps so far")]
    columns += [(s.name, run.columns[s.name], s.unit, s.doc) for s in run.signals.values()]
    for name, values, unit, doc in columns:
        made = file.createVariable(name, "d" if name != "j" else "i", ("sample",))
        made[:] = values
        made.units, made.long_name = unit, doc
    for key, value in run.notes().items():
        setattr(file, key, value.encode())
    file.flush()
    stream.write(own.getvalue())


def write_parquet(run: Trajectory, path: Path | IO[bytes]) -> None:
    """One row per sample, units and meanings in the column metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(list(run.signals.values()), run.notes())
    with pq.ParquetWriter(path, schema) as writer:
        if isinstance(run.columns, StreamedColumns):
            for table in run.columns.tables():
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        else:
            arrays = [run.t, run.j.astype(np.int64), *(run.columns[name] for name in run.signals)]
            # By their bytes: of an array pyarrow would import pandas to ask whether it is a series.
            columns = [
                pa.Array.from_buffers(
                    field.type,
                    len(v),
                    [None, pa.py_buffer(np.ascontiguousarray(v, field.type.to_pandas_dtype()))],
                )
                for field, v in zip(schema, arrays, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))
