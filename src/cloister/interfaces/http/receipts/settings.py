"""The settings of a project for receipts."""

from typing import Annotated

from pydantic import BaseModel, Field

from cloister.domain.project_settings import DEFAULT_RECEIPT_DAYS, MOST_RECEIPT_DAYS


class ReceiptSettings(BaseModel):
    """A part of the settings of a project."""

    store_receipts: bool | None = Field(
        default=False,
        description="Whether the receipts of `/v1/context` and `/v1/search` are stored. Those of replies always are.",
    )
    receipt_days: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MOST_RECEIPT_DAYS})] | None = Field(
        default=None,
        description="After how many days a receipt is deleted. Without it, and `null`: that of a reply is kept as long as the "
        f"reply, others for {DEFAULT_RECEIPT_DAYS} days.",
    )
