"""Parts of towns and of countries, each with what it is a part of: who lives in one may say the other."""

from collections.abc import Mapping

_PARTS = {
    "berlin": "kreuzberg|neukölln|mitte|friedrichshain|prenzlauer berg|charlottenburg|schöneberg|wedding|moabit|pankow|spandau"
    "|tempelhof|lichtenberg|steglitz|wilmersdorf|treptow",
    "hamburg": "altona|st. pauli|eimsbüttel|ottensen|eppendorf|barmbek|wilhelmsburg",
    "munich": "schwabing|haidhausen|giesing|sendling|maxvorstadt|bogenhausen|pasing",
    "cologne": "ehrenfeld|nippes|deutz|lindenthal",
    "vienna": "leopoldstadt|favoriten|ottakring|josefstadt|döbling|neubau|mariahilf|floridsdorf",
    "oslo": "grünerløkka|frogner|majorstuen|sagene|gamle oslo|st. hanshaugen|tøyen|nordstrand|bislett",
    "copenhagen": "nørrebro|vesterbro|østerbro|frederiksberg|amager|christianshavn",
    "stockholm": "södermalm|östermalm|vasastan|kungsholmen|norrmalm|gamla stan",
    "london": "camden|hackney|islington|brixton|shoreditch|clapham|peckham|greenwich|croydon|ealing|fulham|hammersmith|kensington"
    "|chelsea|notting hill|soho|battersea|wimbledon|tottenham|lewisham|southwark|lambeth|camden town|stratford|walthamstow"
    "|east london|west london|south london|north london",
    "new york": "brooklyn|queens|manhattan|the bronx|bronx|staten island|harlem|williamsburg|bushwick|astoria|bed-stuy|tribeca"
    "|soho|chelsea|greenwich village|long island city|park slope|flushing|washington heights",
    "nyc": "brooklyn|queens|manhattan|the bronx|bronx|staten island|harlem|williamsburg|bushwick|astoria|new york",
    "new york city": "brooklyn|queens|manhattan|the bronx|bronx|staten island|harlem|williamsburg|bushwick|astoria|new york|nyc",
    "los angeles": "hollywood|venice|silver lake|echo park|koreatown|westwood|brentwood|sherman oaks|la",
    "san francisco": "the mission|mission|soma|noe valley|nob hill|castro|the castro|haight|sunset|sf|marina",
    "chicago": "lincoln park|wicker park|logan square|hyde park|pilsen|lakeview|bronzeville",
    "boston": "back bay|dorchester|jamaica plain|south end|allston|beacon hill|roxbury",
    "seattle": "capitol hill|ballard|fremont|queen anne|west seattle",
    "toronto": "scarborough|etobicoke|north york|the annex|leslieville|parkdale",
    "paris": "montmartre|le marais|marais|belleville|bastille|montparnasse|la défense|pigalle|quartier latin",
    "lyon": "croix-rousse|vieux lyon|part-dieu|confluence",
    "brussels": "ixelles|saint-gilles|schaerbeek|etterbeek|uccle|anderlecht|molenbeek",
    "amsterdam": "de pijp|jordaan|oud-west|noord|amsterdam noord|bijlmer|oost",
    "madrid": "malasaña|chueca|lavapiés|salamanca|chamberí|retiro|vallecas|la latina",
    "barcelona": "gràcia|gracia|eixample|el raval|raval|poblenou|sants|barceloneta|el born",
    "lisbon": "alfama|bairro alto|chiado|belém|graça|campo de ourique|alcântara|benfica",
    "porto": "cedofeita|foz|boavista|ribeira|bonfim",
    "rome": "trastevere|testaccio|monti|prati|san lorenzo|pigneto",
    "milan": "navigli|isola|brera|porta romana|lambrate",
    "zurich": "oerlikon|wiedikon|altstetten|seefeld",
    "dublin": "rathmines|drumcondra|ranelagh|smithfield|phibsborough|clontarf",
    "edinburgh": "leith|morningside|portobello|stockbridge",
    "glasgow": "govan|partick|hillhead|finnieston",
    "tokyo": "shibuya|shinjuku|setagaya|meguro|minato|nakano|shimokitazawa|asakusa",
    "mumbai": "bandra|andheri|colaba|juhu|powai|dadar",
    "sydney": "bondi|newtown|manly|surry hills|parramatta|marrickville",
    "melbourne": "fitzroy|brunswick|st kilda|carlton|richmond|footscray",
    "rio de janeiro": "copacabana|ipanema|leblon|botafogo|santa teresa|rio",
    "são paulo": "pinheiros|vila madalena|moema|itaim",
    "buenos aires": "palermo|san telmo|recoleta|belgrano",
    "mexico city": "condesa|la condesa|roma norte|coyoacán|polanco",
}
_STATES = (
    "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas"
    "|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|ohio"
    "|oklahoma|oregon|pennsylvania|tennessee|texas|utah|vermont|virginia|wisconsin|wyoming|new york|new jersey|new mexico"
    "|new hampshire|north carolina|south carolina|north dakota|south dakota|rhode island|west virginia|washington"
)
_COUNTRIES = {
    "scotland|england|wales|northern ireland": ("uk", "united kingdom", "britain", "great britain"),
    _STATES: ("us", "usa", "america", "united states", "states"),
    "bavaria|saxony|hesse|brandenburg": ("germany",),
    "catalonia|andalusia": ("spain",),
    "tuscany|sicily|sardinia|lombardy": ("italy",),
    "normandy|brittany|provence": ("france",),
    "ontario|alberta|manitoba|saskatchewan|british columbia|nova scotia|quebec": ("canada",),
    "queensland|victoria|tasmania|new south wales": ("australia",),
    "cornwall|devon|kent|yorkshire|surrey": ("england", "uk", "united kingdom", "britain"),
    "holland": ("netherlands",),
}


def _areas() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for town, parts in _PARTS.items():
        for part in parts.split("|"):
            found.setdefault(part, set()).add(town)
    for parts, countries in _COUNTRIES.items():
        for part in parts.split("|"):
            found.setdefault(part, set()).update(countries)
    return {part: frozenset(areas) for part, areas in found.items()}


AREAS = _areas()
"""For the name of a part, in lower case, the names of what it belongs to."""
