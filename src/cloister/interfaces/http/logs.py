"""Logs: one JSON object a line, with the patterns of routes and the ids of keys, never with contents of messages or keys."""

import json
import logging
import sys
from datetime import UTC, datetime

LOGGER = logging.getLogger("cloister.http")
_OUR_LOGGERS = logging.getLogger("cloister")


class JsonLines(logging.Formatter):
    """Formats a record as its time, level, event and `fields`. The event is the message of the log call, of whose arguments only
    numbers are shown, since others of other libraries may quote a request."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": _event(record).strip(),
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _where(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def log(level: int, event: str, error: BaseException | None = None, **fields: object) -> None:
    LOGGER.log(level, event, exc_info=error, extra={"fields": fields})


def log_to_stderr(lines: logging.Formatter | None = None) -> None:
    """Log to standard error: our own lines from INFO on, and warnings of libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(lines or JsonLines())
    logging.getLogger().handlers[:] = [handler]
    _OUR_LOGGERS.setLevel(logging.INFO)


def _event(record: logging.LogRecord) -> str:
    message = str(record.msg)
    if not isinstance(record.args, tuple) or not record.args:
        return message
    try:
        return message % tuple(each if each is None or isinstance(each, int | float) else "…" for each in record.args)
    except (TypeError, ValueError):
        return message


def _where(error: BaseException) -> list[str]:
    """The classes of an error and its causes, with their tracebacks, and without their texts, which may quote messages."""
    found: list[str] = []
    current: BaseException | None = error
    while current is not None and len(found) < 50:
        found.append(type(current).__qualname__)
        trace = current.__traceback__
        while trace is not None:
            found.append(f"  {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno} {trace.tb_frame.f_code.co_qualname}")
            trace = trace.tb_next
        current = current.__cause__ or current.__context__
    return found
