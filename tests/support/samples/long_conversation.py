"""A made-up conversation of two friends over a year, with questions about it: large enough that an index must choose."""

from collections.abc import Iterator

from cloister.domain.conversation import Draft

_DAY = 86_400_000_000
_BEGINNING = 1_673_000_000_000_000
_SMALL_TALK = (
    ("How was your week?", "Busy, but fine. Yours?"),
    ("It rained here all morning.", "Same here, my shoes are still wet."),
    ("Did you sleep well?", "Not really, the neighbours had guests."),
    ("I am making coffee, want to call later?", "After eight would be perfect."),
    ("My train was late again.", "They should put you on the payroll."),
    ("I keep forgetting my umbrella.", "Tie it to your bag."),
    ("Is it warm where you are?", "Warm enough to sit outside."),
    ("I have to run in a minute.", "No problem, talk soon."),
)

FACTS = (
    ("I signed up for a pottery class near the harbour.", "Clay everywhere, I imagine!", "Which class did Mira join?"),
    ("My brother opened a bakery with rye bread.", "I will visit it.", "What did Mira's brother open?"),
    ("We adopted a grey cat from the shelter.", "What is she called?", "Where does the grey cat come from?"),
    ("Pickle, because she stole one at once.", "A thief in the house!", "What is the name of Mira's cat?"),
    ("I sprained my ankle on the ridge trail.", "Put ice on it.", "How did Mira hurt her ankle?"),
    ("The doctor prescribed six weeks of rest.", "No more climbing then.", "What did the doctor prescribe?"),
    ("I am learning the cello now.", "Since when do you like strings?", "Which instrument is Mira learning?"),
    ("Our flight to Lisbon leaves on a Thursday.", "Bring me tiles.", "When does the flight to Lisbon leave?"),
    ("I painted the kitchen a dark green.", "Bold choice.", "What colour is Mira's kitchen?"),
    ("My thesis on river sediment was accepted.", "Congratulations, doctor!", "What was the thesis about?"),
    ("I lost my passport at the ferry terminal.", "Call the consulate today.", "Where was the passport lost?"),
    ("They found it inside the lost luggage office.", "Lucky you.", "Who found the passport?"),
    ("I will run the spring marathon for charity.", "How far are you already?", "Why does Mira run a marathon?"),
    ("Grandmother turned ninety and danced a waltz.", "I want her energy.", "How old did grandmother turn?"),
    ("I sold my motorbike to a colleague.", "You loved that machine.", "To whom was the motorbike sold?"),
    ("The orchard gave us forty kilos of plums.", "Make jam.", "How many plums did the orchard give?"),
    ("I applied for a grant to map old wells.", "Wells of water or of oil?", "What is the grant for?"),
    ("My sister is moving to Reykjavik in autumn.", "She hates the cold.", "Where is the sister moving?"),
    ("I broke the projector at work.", "Again?", "What broke at work?"),
    ("We planted lavender along the fence.", "The bees will thank you.", "What grows along the fence?"),
    ("I read a novel about lighthouse keepers.", "Was it sad?", "What was the novel about?"),
    ("The choir sings Verdi in the old brewery.", "Get me a ticket.", "Where does the choir sing?"),
    ("My phone fell into the aquarium.", "And the fish?", "What happened to the phone?"),
    ("I am allergic to hazelnuts, it turns out.", "No more pralines.", "What is Mira allergic to?"),
    ("The landlord raised the rent by a tenth.", "Is that legal?", "Who raised the rent?"),
    ("I won a chess game against the mayor.", "Did he shake hands?", "Against whom did Mira play chess?"),
)

QUESTIONS = (
    *(question for _, _, question in FACTS),
    "What happened in March 2023?",
    "What did Jonas say about the bees?",
)


def sessions() -> Iterator[tuple[str, list[Draft]]]:
    """Thirteen sessions, a month apart, each with two facts among small talk."""
    for at in range(0, len(FACTS), 2):
        lines: list[tuple[str, str]] = []
        for number, (said, reply, _) in enumerate(FACTS[at : at + 2]):
            lines += [_SMALL_TALK[(at + number + turn) % len(_SMALL_TALK)] for turn in range(3)]
            lines.append((said, reply))
        lines += [_SMALL_TALK[(at + turn) % len(_SMALL_TALK)] for turn in range(2)]
        yield f"talk {at // 2}", list(_drafts(lines, _BEGINNING + at * 14 * _DAY))


def _drafts(lines: list[tuple[str, str]], moment: int) -> Iterator[Draft]:
    for said, reply in lines:
        yield Draft(role="user", content=said, author="Mira", created_at=moment)
        yield Draft(role="assistant", content=reply, author="Jonas", created_at=moment)
