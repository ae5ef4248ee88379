"""Spans of OpenTelemetry: read from the wire, told apart by dialect, put together as runs."""
