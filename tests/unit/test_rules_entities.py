"""Named things in what users say, and what is said of them (ISO-9)."""

import pytest

from cloister.domain.extraction import EntityType, Statement
from cloister.domain.identifiers import MessageId
from cloister.models.rules.extractor import Rules


def said(*contents: str, role: str = "user", author: str | None = None) -> list[Statement]:
    return [
        Statement(id=MessageId(number), role=role, content=content, author=author, created_at=number)
        for number, content in enumerate(contents, 1)
    ]


def named(*contents: str, author: str | None = None) -> dict[str, str]:
    return {entity.name: entity.type for entity in Rules().entities(said(*contents, author=author))}


@pytest.mark.parametrize(
    ("content", "name", "typed"),
    [
        ("My sister Anna is a vet.", "Anna", "person"),
        ("I met Joost at work.", "Joost", "person"),
        ("I live in Lisbon.", "Lisbon", "place"),
        ("We flew to San Francisco last year.", "San Francisco", "place"),
        ("There was a conference in Detroit.", "Detroit", "place"),
        ("I work at Siemens as a tester.", "Siemens", "organisation"),
        ("She studied at the University of Algarve.", "University of Algarve", "organisation"),
        ("I bought a Yamaha for the band.", "Yamaha", "product"),
        ("I ran the Porto marathon.", "Porto marathon", "event"),
        ("We went home for Christmas.", "Christmas", "event"),
        ("My dog is called Biscuit.", "Biscuit", "other"),
        ("I just finished “The Dispossessed” again.", "The Dispossessed", "product"),
        ("We love playing Catan on Sundays.", "Catan", "product"),
        ("My favorite author is Ursula.", "Ursula", "person"),
        ("I had lunch with Samuel.", "Samuel", "person"),
        ("It was Matt Patterson.", "Matt Patterson", "person"),
        ("I'm off to Ireland for a semester.", "Ireland", "place"),
        ("They enjoyed the Eiffel Tower a lot.", "Eiffel Tower", "place"),
        ("Our group, “Green Roofs”, meets here.", "Green Roofs", "organisation"),
        ("I bought headphones from Sennheiser.", "Sennheiser", "organisation"),
        ("I posted it on Instagram.", "Instagram", "product"),
        ("The battery of my Ferrari died.", "Ferrari", "product"),
        ("I'm playing Overcooked 2 again.", "Overcooked 2", "product"),
        ("I named him Frank because he barks.", "Frank", "other"),
        ("We adopted Oscar last year.", "Oscar", "other"),
        ("My furry friend Daisy sleeps here.", "Daisy", "other"),
    ],
)
def test_the_words_around_a_name_tell_its_type(content: str, name: str, typed: EntityType) -> None:
    assert named(content) == {name: typed}


@pytest.mark.parametrize(
    "content",
    [
        "Tomorrow will be fine.",
        "See you on Monday in March.",
        "I speak Portuguese and she is Italian.",
        "I and my Mom are OK.",
        "WE ARE SHOUTING ABOUT LISBON TODAY",
        "Thanks, Nate!",
        "Is Anna my sister?",
        "If Anna lived in Rome, fine.",
        "```\nclass Anna in Rome\n```",
        "> I saw Anna in Rome",
        "Ten Great Places To Visit Before Winter Comes",
        "Breaking News: Marta Silva Joins Contoso in Lisbon",
        "How Marta Silva Built Contoso",
        "Everyone works at home.",
        "Experience is the best teacher.",
        "Failure is my teacher.",
        "Netflix is my friend.",
        "High School was rough for me back then.",
        "Project Management is hard for us.",
        "Stress leads to illness.",
        "Friday works for me.",
        "Hope Anna enjoyed it.",
        "I mean it, I am not Anna.",
        "Translate: my sister Anna lives in Rome.",
        "She wrote it in English.",
        "",
    ],
)
def test_what_names_nothing_gives_nothing(content: str) -> None:
    assert named(content) == {}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Marta Silva works at Contoso.", {"Marta Silva": "person", "Contoso": "organisation"}),
        (
            "Jonas Weber joined Fabrikam in Berlin.",
            {"Jonas Weber": "person", "Fabrikam": "organisation", "Berlin": "place"},
        ),
        ("Anna leads Project Falcon.", {"Anna": "person", "Project Falcon": "project"}),
        (
            "My name is Marta Silva and I work at Contoso in Lisbon.",
            {"Marta Silva": "person", "Contoso": "organisation", "Lisbon": "place"},
        ),
        ("Anna is a vet.", {"Anna": "person"}),
        ("Peter Novak moved to Prague last year.", {"Peter Novak": "person", "Prague": "place"}),
        (
            "Northwind Traders hired Sofia Rossi in Milan.",
            {"Northwind Traders": "organisation", "Sofia Rossi": "person", "Milan": "place"},
        ),
        ("Contoso acquired Fabrikam for 3 million euros.", {"Contoso": "organisation", "Fabrikam": "organisation"}),
        (
            "Priya Raman bought a Tesla Model 3 from Greenline Motors.",
            {"Priya Raman": "person", "Tesla Model 3": "product", "Greenline Motors": "organisation"},
        ),
        (
            "Nina Petrova met Omar Haddad in Vienna.",
            {"Nina Petrova": "person", "Omar Haddad": "person", "Vienna": "place"},
        ),
        ("Ingrid Berg is the CEO of Aurora Robotics.", {"Ingrid Berg": "person", "Aurora Robotics": "organisation"}),
        ("Yuki Tanaka plays for the Osaka Tigers.", {"Yuki Tanaka": "person", "Osaka Tigers": "organisation"}),
        ("Milo is a beagle.", {"Milo": "other"}),
        ("Anna is my piano teacher.", {"Anna": "person"}),
        ("Marta Silva is my doctor.", {"Marta Silva": "person"}),
        ("Project Falcon is late again.", {"Project Falcon": "project"}),
        ("Aurora Robotics is growing fast.", {"Aurora Robotics": "organisation"}),
        ("New York University was great for us.", {"New York University": "organisation"}),
        ("Max is my mother's cat.", {}),
        ("I'm in the San Francisco Bay Area.", {"San Francisco Bay Area": "place"}),
        ("I love the Lord of the Rings.", {"Lord of the Rings": "other"}),
        ("I live in Leeds now, not Bradford.", {"Leeds": "place"}),
        ("I'm reading “Solaris” by Stanislaw Lem.", {"Solaris": "product", "Stanislaw Lem": "person"}),
    ],
)
def test_iso_9_plain_sentences_about_others_name_them(content: str, expected: dict[str, EntityType]) -> None:
    assert named(content) == expected


def test_an_animal_is_no_person_whatever_it_is_called_in_another_sentence() -> None:
    """MEM-17: the words around a name count for more than what people are often called."""
    assert named("I walked with Samuel.", "This is Samuel, my puppy.")["Samuel"] == "other"


def test_what_is_known_by_a_name_is_not_overruled_by_words_that_fit_anything() -> None:
    """MEM-17"""
    assert named("There are artists on Instagram who inspire me.") == {"Instagram": "product"}
    assert named("I took it with me in Toronto, and it worked.") == {"Toronto": "place"}
    assert named("I just joined a new LGBTQ choir.").get("LGBTQ", "other") == "other"


def test_only_users_name_things() -> None:
    assert Rules().entities(said("I recommend Lisbon and my sister Anna.", role="assistant")) == []


def test_a_speaker_is_no_entity() -> None:
    both = [*said("My sister Anna met Ben in Rome.", author="Caroline"), *said("I like Caroline.", author="Ben")]
    assert {entity.name for entity in Rules().entities(both)} == {"Anna", "Rome"}


def test_notes_say_what_was_said_and_sources_where() -> None:
    found = Rules().entities(said("I live in Lisbon.", "Nothing here.", "I met Ana in Lisbon, it rained."))
    lisbon = next(entity for entity in found if entity.name == "Lisbon")
    assert lisbon.notes == "The user lives in Lisbon. The user: I met Ana in Lisbon."
    assert lisbon.sources == (1, 3)


def test_a_name_at_the_start_of_a_sentence_counts_once_it_is_known() -> None:
    found = Rules().entities(said("Anna lives in Graz.", "My sister Anna is a vet."))
    anna = next(entity for entity in found if entity.name == "Anna")
    assert (anna.type, anna.sources) == ("person", (1, 2))


def test_notes_stay_short() -> None:
    found = Rules().entities(said(*(f"I met Anna in the {'very ' * 200} long street number {n}." for n in range(9))))
    assert all(len(entity.notes) <= 600 for entity in found)
