"""Reading without a pipeline, from `dialmill.testing`, under the name that our tests use."""

from dialmill.testing.reading import Read, parse, read_data, read_paths

__all__ = ["Read", "parse", "read_data", "read_paths"]
