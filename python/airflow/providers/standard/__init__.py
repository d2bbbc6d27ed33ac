"""The standard operators and sensors, in our own implementation."""

__version__ = "1.21.0"
