"""The words by which a fact with one value at a time is asked for: "Where do I live?" finds "The user moved to Oslo." (MEM-12).

They are indexed with the memory, and never shown.
"""

_WORDS = {
    "home": "home: where they live, living, based, city, town, address",
    "employer": "work: where they work, work for, employer, employed, company, firm, job",
    "role": "job: what they work as, do for a living, role, position, profession, occupation, career",
    "relationship": "relationship: single, dating, partner, engaged, married, divorced, marital status",
    "age": "age: how old they are, years old",
    "name": "name: what they are called, who they are",
    "called": "name: what to call them, called, who they are",
    "diet": "diet: what they eat, vegan, vegetarian, meat",
}
_SPOKEN = frozenset({"habit", "liking", "preference"})
"""Subjects that consist of the words of the fact: "habit:drink wine" finds "The user is sober now." by what it made untrue."""


def subject_name(subject: str) -> str:
    """The name of a subject, without the speaker before it and the value after it."""
    return subject.rsplit(": ", 1)[-1].split(":", 1)[0]


def searchable_text(content: str, subject: str | None) -> str:
    """The text of a memory as it is indexed. A subject may have the speaker's name before it, and a value after it."""
    if subject is None:
        return content
    named = subject_name(subject)
    words = _WORDS.get(named)
    if words is None and named in _SPOKEN:
        words = subject.rsplit(": ", 1)[-1].replace(":", ": ", 1)
    return content if words is None else f"{content} ({words})"
