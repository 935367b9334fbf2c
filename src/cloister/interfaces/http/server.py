"""The web server. It waits for every answer to end before it stops; streams would go on, so they are let go first."""

import asyncio
import socket
from typing import cast

import uvicorn
from fastapi import FastAPI


class Server(uvicorn.Server):
    """Uvicorn over one of our apps."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state = cast(FastAPI, self.config.app).state
        state.hall.close()
        cutting = asyncio.create_task(state.turns.close())
        await super().shutdown(sockets)
        await cutting
