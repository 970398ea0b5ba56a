"""Synthetic trips in files: CSV, Parquet, GeoJSON."""

from __future__ import annotations

import json
from pathlib import Path

from veil.core.formulas import safe_texts
from veil.core.writing import replacing
from veil.trips.synthetic_trips import SyntheticTrips

ENDINGS = (".csv", ".parquet", ".geojson")


def write_trips(trips: SyntheticTrips, path: Path, *, overwrite: bool, csv_safe: bool = False) -> None:
    """Write by the ending of the path. csv_safe: with an apostrophe before labels that look like formulas."""
    ending = path.suffix.lower()
    with replacing(path, overwrite=overwrite) as beside:
        if ending == ".geojson":
            text = json.dumps(trips.to_geojson(), allow_nan=False, separators=(",", ":"))
            Path(beside).write_text(text, encoding="utf-8")
        elif ending == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(trips.to_arrow(), beside)
        else:
            import pyarrow as pa
            import pyarrow.csv as pc

            table = trips.to_arrow()
            if csv_safe:
                labels = pa.array(safe_texts(table.column("place").to_pylist()))
                table = table.set_column(1, "place", labels)
            pc.write_csv(table, beside, pc.WriteOptions(quoting_style="needed"))
