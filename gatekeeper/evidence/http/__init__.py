"""Sources that answer a GET with a JSON document."""
