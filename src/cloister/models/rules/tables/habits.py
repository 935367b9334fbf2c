"""The predicates that say that a habit or a liking began or ended, matched at the start of a predicate's key."""

from cloister.models.rules.tables.notation import words

_CONSUMED = (
    "meat|red meat|pork|beef|fish|dairy|gluten|alcohol|coffee|caffeine|sugar|eggs|bread|carbs|cheese|milk|chocolate|sweets|soda"
    "|wine|beer"
    "|cigarettes|nicotine|junk food|fast food|wheat|lactose|booze"
)
THING = r"(?!to\b|on\b|at\b|in\b|into\b|with\b|for\b|the\b|my\b|their\b|an?\b|it\b|that\b|this\b)[\w'-]+(?: [\w'-]+)?"
"""One or two words without an article."""
CAME_TO_LIKE = (
    r"(?:have )?(?:come|came|grown|grew|started|learned|learnt|begun|began) to (?:really )?(?:love|like|enjoy|appreciate|adore)"
    r"|(?:have )?(?:started|begun|began) (?:liking|loving|enjoying)|(?:have )?(?:got|gotten|become|became) (?:really |quite "
    r"|so )?into"
    r"|have developed a taste for|(?:have )?(?:got|gotten) hooked on|(?:have )?fallen in love with|fell in love with"
)
GONE_OFF = (
    r"(?:have )?(?:gone|went) off|(?:have )?had enough of|(?:have )?(?:fallen|fell) out of love with|(?:have )?lost (?:(?:my"
    r"|their) (?:taste|love"
    r"|appetite) for|interest in|(?:my|their) interest in)"
    r"|(?:have )?(?:grown|grew|got) (?:tired|bored|sick) of"
)
NO_THING = words(
    "trouble bed work college university school shape debt town habit fight position course topic script track"
)
"""After "got into" and "went off": no liking."""
STOPPED = (
    r"(?:have )?(?:stopped|quit|given up|gave up|cut out|sworn off|swore off|ditched|eliminated)|had to (?:stop|quit|give up"
    r"|cut out)"
    r"|(?:have )?managed to (?:stop|quit|give up)"
)
ENDED = (
    rf"be (?:completely |totally )?off ({_CONSUMED})|(?:have )?(?:cut|cuts) (?:all )?([\w-]+) out(?: of (?:my|their) (?:diet"
    rf"|life))?"
    r"|(?:have )?kicked (?:my|their|the) ([\w-]+)(?: habit| addiction)"
    rf"|(?:have )?kicked (?:my |their |the )?({_CONSUMED})"
    r"|(?:be|went|have gone|have been) "
    r"(gluten|dairy|sugar|meat|alcohol|caffeine|lactose|nicotine|carb|wheat)-free"
)
LEFT_CLUB = (
    r"(?:have )?(?:(?:quit|left|dropped out of) (?:the|my|their)|cancell?ed (?:the|my"
    r"|their)(?= gym membership)) (?P<club>gym)(?: membership)?$"
)
EXCHANGED = (
    r"(?:have )?(?:switched|moved|changed|gone|went|converted) (?:over )?from ([\w-]+(?: [\w-]+)?) to [\w-]+"
    r"|(?:have )?(?:swapped|traded|exchanged|dropped|ditched|left|quit) ([\w-]+(?: [\w-]+)?) for [\w-]+"
    r"|(?:have )?replaced ([\w-]+(?: [\w-]+)?) with [\w-]+"
)
VERBS_OF_THINGS = ("eat", "drink", "us", "play", "watch", "tak", "driv", "wear")
"""The stems of what people do with a thing that they give up."""
_GROUPS = (
    ("hot drink", "tea coffee"),
    ("phone", "android iphone"),
    ("system", "windows mac macos linux"),
    ("pet", "cats dogs"),
    ("season", "summer winter autumn spring"),
    ("drink", "beer wine"),
    ("landscape", "beach mountains"),
    ("time", "mornings evenings"),
    ("travel", "trains planes"),
    ("channel", "email phone texts"),
)
CHOICES = {thing: group for group, things in _GROUPS for thing in things.split()}
"""Things of which a person prefers one: "prefers coffee" after "prefers tea" is a change."""
INSTRUMENTS = words(
    "violin piano guitar drums cello flute saxophone clarinet trumpet bass viola harp accordion banjo ukulele organ"
)
