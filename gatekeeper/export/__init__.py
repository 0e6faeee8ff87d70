"""What leaves the log for others: its lines in a file of their own, or as rows of Parquet files."""
