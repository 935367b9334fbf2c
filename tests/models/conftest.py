"""Tests that need the llama.cpp server; see `model_server.py`."""

from support.servers.model_server import model_server, the_model_server

__all__ = ["model_server", "the_model_server"]
