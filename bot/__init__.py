"""The application around the engine: command line, services and rendering."""
