"""`python -m cloister` is the command line."""

from cloister.interfaces.cli.main import app

app()
