"""Examples of profiles and of the settings of a tenant, from the same household as the others."""

from collections.abc import Mapping

from cloister.domain.memory import quoted
from cloister.interfaces.http.openapi.examples import ENTITY_SHAPE, MEMORY, MEMORY_SHAPE, Example

PROFILE_EXAMPLES: Mapping[str, Example] = {
    "get_user_profile": Example(
        answer={
            "text": quoted([f"Home: {MEMORY_SHAPE['content']}"]),
            "facts": [{"content": MEMORY_SHAPE["content"], "memory_ids": [MEMORY]}],
            "tokens": 52,
        }
    ),
    "get_project_profile": Example(
        answer={
            "text": quoted([f"Entities: {ENTITY_SHAPE['name']} ({ENTITY_SHAPE['type']}): {ENTITY_SHAPE['notes']}"]),
            "facts": [
                {
                    "content": f"{ENTITY_SHAPE['name']} ({ENTITY_SHAPE['type']}): {ENTITY_SHAPE['notes']}",
                    "memory_ids": [],
                }
            ],
            "tokens": 60,
        }
    ),
    "get_tenant_settings": Example(answer={"retention_days": 365, "receipt_days": None}),
    "change_tenant_settings": Example(request={"receipt_days": 90}, answer={"retention_days": 365, "receipt_days": 90}),
}
