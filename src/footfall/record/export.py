"""A trajectory as Parquet tables."""

from pathlib import Path

import numpy as np

from footfall.record.row_stream import StreamedColumns, schema_of
from footfall.record.trajectory import Trajectory


def write_parquet(run: Trajectory, path: Path) -> None:
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
