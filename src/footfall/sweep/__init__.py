"""Designs x engine x executor -> Parquet shards, resumable."""
