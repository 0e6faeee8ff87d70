"""The collection file: read strictly, with every problem named and placed."""
