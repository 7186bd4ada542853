"""Files that hold link graphs: lines of links, Parquet, WebGraph."""
