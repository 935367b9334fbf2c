"""Queries in other languages than English: the dates they name, and whether they ask for what the assistant said before.

German, Spanish, French, Italian, Portuguese, Dutch, Chinese and Japanese; for English see `question.py` and `named_dates.py`.
"""

from calendar import monthrange
from collections.abc import Iterator

from cloister.domain.patterns import DOTALL, IGNORECASE, VERBOSE, Match, linear
from cloister.domain.recall.named_dates import NamedDate

# By number, from January; without names that English has too, but for those that are told apart by the word before them.
MONTHS = (
    ("januar", "jänner", "enero", "janvier", "gennaio", "janeiro", "januari"),
    ("februar", "febrero", "février", "febbraio", "fevereiro", "februari"),
    ("märz", "marzo", "março", "maart", "mars"),
    ("abril", "avril", "aprile", "april"),
    ("mai", "mayo", "maggio", "maio", "mei"),
    ("juni", "junio", "juin", "giugno", "junho"),
    ("juli", "julio", "juillet", "luglio", "julho"),
    ("agosto", "août", "augustus", "august"),
    ("septiembre", "setiembre", "septembre", "settembre", "setembro"),
    ("oktober", "octubre", "octobre", "ottobre", "outubro"),
    ("noviembre", "novembre", "novembro"),
    ("dezember", "diciembre", "décembre", "dicembre", "dezembro"),
)
"""The names of the months by number, from January."""
ENGLISH_TOO = frozenset({"april", "august", "janeiro", "mars", "mayo"})
"""Names that English has too, or that mean something there; a preposition or the form of the day tells that they are months."""

DATE_WORDS = frozenset(name for names in MONTHS for name in names) | {"januar", "marz"}
"""The words of which a query in ASCII has one if it names a date."""
_ASSISTANT_WORDS = """
du dein deine deinem deinen deiner deines deins sagtest empfahlst rietest meintest
dijiste recomendaste sugeriste aconsejaste propusiste mencionaste explicaste recordaste has tu tus
as avez avais aviez tes vos ta votre ton hai avevi tuo tua tuoi tue voce sua suas tuas heb had jouw uw je
"""
ASSISTANT_WORDS = frozenset(_ASSISTANT_WORDS.split())
"""The words of which a query in ASCII has one if it asks for what the assistant said."""

_TENS = ("", "十", "二十", "三十")
_IDEOGRAPHIC = {
    f"{ten}{unit}": 10 * at + n for at, ten in enumerate(_TENS) for n, unit in enumerate(" 一二三四五六七八九")
}
_NUMBERS = {name: number for number, names in enumerate(MONTHS, 1) for name in names} | {
    name.strip(): number for name, number in _IDEOGRAPHIC.items()
}
_YEAR = r"(?:19|20)\d\d"
_MONTH_NAMES = "|".join(sorted((name for names in MONTHS for name in names), key=len, reverse=True))
_DATE = linear(
    rf"""\b
        (?:(?P<cue>im|ab|bis|seit|ende|anfang|mitte|en|desde|hasta|em|nel|ad|au|dès|depuis|sinds|eind|begin)\s{{1,4}})?
        (?:(?P<day>\d{{1,2}})(?P<form>\.|º|°|er|\s{{1,4}}de)?\s{{1,4}})?
        (?P<month>{_MONTH_NAMES})\b
        (?:\s{{1,4}}(?:del?\s{{1,4}})?(?P<year>{_YEAR}))?\b
    """,
    IGNORECASE | VERBOSE,
)
_IDEOGRAPHIC_DATE = linear(
    rf"""(?:(?P<year>{_YEAR})\s?年\s?)?
        (?<![\d一二三四五六七八九十])(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月(?![球亮光饼])
        (?:\s?(?P<day>3[01]|[12]\d|0?[1-9]|[二三]?十?[一二三四五六七八九]|[二三]?十)\s?[日号號])?
      | (?P<lone_year>{_YEAR})\s?年
    """,
    VERBOSE,
)
_GERMAN_SAID = (
    "empfohlen|vorgeschlagen|gesagt|geraten|genannt|erwähnt|erklärt|aufgelistet|gegeben|erzählt|gezeigt|beschrieben"
)
_SAID_BY_ASSISTANT = (
    # German
    rf"\b(?:hast|hattest)\s+du\b.{{0,80}}\b(?:{_GERMAN_SAID})\b",
    rf"\bdu\b.{{0,60}}\b(?:{_GERMAN_SAID})\s+(?:hast|hattest)\b",
    r"\b(?:sagtest|empfahlst|rietest|meintest|erwähntest|nanntest)\s+du\b",
    r"\bdeine[rnms]?\s+(?:vorschläge|empfehlung|empfehlungen|ratschläge|tipps|antwort|antworten|liste|erklärung|ideen?)\b",
    r"\bdein(?:em|en|s)?\s+(?:vorschlag|rat|ratschlag|tipp|beispiel)\b",
    # Spanish
    r"\b(?:dijiste|recomendaste|sugeriste|aconsejaste|propusiste|mencionaste|explicaste|recordaste)\b",
    r"\b(?:has|habías)\s+(?:dicho|recomendado|sugerido|aconsejado|propuesto|mencionado|explicado)\b",
    r"\btus?\s+(?:recomendaci[oó]n|recomendaciones|sugerencias?|consejos?|respuestas?|lista|explicaci[oó]n|propuestas?)\b",
    # French
    r"\b(?:as|avez|avais|aviez)(?:-tu|-vous)?\s+(?:recommandé|conseillé|suggéré|proposé|dit|mentionné|expliqué|indiqué)e?s?\b",
    r"\b(?:tes|vos|ta|votre|ton)\s+(?:conseils?|recommandations?|suggestions?|réponses?|explications?)\b",
    # Italian
    r"\b(?:mi|ci)\s+(?:hai|avevi)\s+(?:consigliato|raccomandato|suggerito|detto|proposto|spiegato|indicato)\b",
    r"\btu(?:o|a|oi|e)\s+(?:consigli|consiglio|suggeriment[oi]|raccomandazion[ei]|rispost[ae])\b",
    # Portuguese
    r"\b(?:você|tu)\s+(?:me\s+)?(?:recomendou|recomendaste|sugeriu|sugeriste|aconselhou|disse|disseste|propôs|mencionou)\b",
    r"\b(?:sua|tua)s?\s+(?:sugestão|sugestões|recomendação|recomendações|respostas?)\b",
    # Dutch
    r"\b(?:heb|had)\s+(?:je|jij|u)\b.{0,60}\b(?:aanbevolen|aangeraden|voorgesteld|gezegd|genoemd|uitgelegd|geadviseerd)\b",
    r"\b(?:jouw|uw|je)\s+(?:advies|aanbeveling|aanbevelingen|voorstel|suggesties?|antwoord|antwoorden|tips?)\b",
    # Chinese
    "[你您](?:之前|上次|当时|曾经|刚才)?(?:给我|跟我|对我|向我)?(?:推荐|建议|提醒|教|告诉|提到|介绍|列出|讲|说)(?:过|的|了|我|给我)",
    "[你您]的(?:建议|推荐|回答|提议|意见)",
    # Japanese; "くれますか" asks for something new
    "(?:教え|すすめ|勧め|薦め|提案し|おすすめし|言っ|紹介し|アドバイスし|説明し|挙げ)て"
    "(?:くれ(?:た|まし)|もらっ|もらいまし|いただいた|いただきまし|いた|いまし)",
    "あなたの(?:おすすめ|提案|アドバイス|回答|説明)",
)
_SAID_BY_USER = (
    r"\bich\b.{0,40}\b(?:gesagt|erzählt|erwähnt|geschrieben)\b",
    r"\bte\s+(?:dije|conté|mencioné|comenté|he\s+(?:dicho|contado))\b",
    r"\bje\s+(?:t['’]|vous\s+)ai\s+(?:dit|raconté)\b",
    "我(?:之前|上次)?(?:说过|提到|告诉|跟你说)",
    "(?:私|僕|俺)が(?:言っ|話し|伝え)",
)
_BY_ASSISTANT = linear("|".join(_SAID_BY_ASSISTANT), IGNORECASE | DOTALL)
_BY_USER = linear("|".join(_SAID_BY_USER), IGNORECASE | DOTALL)


def named_dates(query: str) -> tuple[NamedDate, ...]:
    """The dates that a query names in another language than English, without duplicates."""
    return tuple(dict.fromkeys(_dates(query)))


def asks_assistant(query: str) -> bool:
    """Whether a query in another language than English asks for what the assistant said before."""
    return _BY_ASSISTANT.search(query) is not None and _BY_USER.search(query) is None


def _dates(query: str) -> Iterator[NamedDate]:
    for match in _DATE.finditer(query):
        if match["month"].lower() not in ENGLISH_TOO or match["cue"] or match["form"]:
            yield _date(match)
    if query.isascii():
        return
    for match in _IDEOGRAPHIC_DATE.finditer(query):
        if match["lone_year"]:
            yield NamedDate(year=int(match["lone_year"]))
        else:
            yield _date(match)


def _date(match: Match[str]) -> NamedDate:
    month = _number(match["month"])
    year = int(match["year"]) if match["year"] else None
    day = _number(match["day"]) if match["day"] else None
    possible = day is not None and 1 <= day <= monthrange(year or 2000, month)[1]
    return NamedDate(year=year, month=month, day=day if possible else None)


def _number(numeral: str) -> int:
    return _NUMBERS.get(numeral.lower()) or int(numeral)
