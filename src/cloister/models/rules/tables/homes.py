"""The predicates that say where somebody lives, moved to, or no longer lives: matched at the start of a predicate's key."""

from cloister.models.rules.tables.notation import words
from cloister.models.rules.tables.single_values import NAME

_KINDS = (
    "house|flat|apartment|home|cottage|room|studio|condo|loft|place|townhouse|bungalow|villa|duplex|maisonette|houseboat|farm"
    "|farmhouse|penthouse|bedsit|dorm"
)
_ADVERBS = r"(?:(?:back|over|out|down|up|across|house|home|again|permanently|away|straight) ){0,2}"
A_HOME = rf"(?:a|an|my|our|the|their) (?:[\w'-]+ ){{0,4}}?(?:{_KINDS})"
A_HOME_IN = rf"{A_HOME} (?:in|near|outside)"
LIVES_IN = (
    r"(?:(?:live|be (?:back )?living|be renting|rent|be based|reside|be residing)|(?:have been living|have lived"
    r"|have been based)(?=.* (?:for"
    r"|since) ))"
    rf" {_ADVERBS}(?:in|on|at|out of)"
)
_MOVED = (
    r"(?:(?:have )?(?:moved|relocated|resettled|emigrated|immigrated|migrated|transferred|decamped)"
    r"|(?:was|got|have been) (?:relocated|transferred|moved|posted)|(?:have )?made the move|had to (?:move|relocate)"
    r"|(?:have )?(?:ended|wound) up moving)"
)
MOVED_TO = (
    rf"{_MOVED} {_ADVERBS}(?:(?:from|of) (?P<former>{NAME}) (?:and )?(?:{_ADVERBS}))?"
    rf"(?:to|into|in with (?:[\w'-]+ ){{1,3}}?in|in together in)(?: live in)? (?:{A_HOME_IN} )?"
)
SETTLED_IN = (
    rf"(?:(?:have )?settled (?:down )?in|(?:have )?(?:ended|wound) up (?:settling |living |back )?in(?! the)(?=.* after all$"
    rf"|[^ ]* [\w'-]+(?: [A-Z][\w'-]+)?$)"
    rf"|be (?:(?:all|fully|finally|now|happily) )*(?:settled|moved in|set up|installed)(?: in)? (?:in|at|into)"
    rf"|(?:got|have|have got|picked up|collected) (?:the|our|my|their) keys (?:(?:to|for|of) )?(?:{A_HOME} )?(?:in|to)"
    rf"|(?:got|have|found) (?:my|our|their) own (?:{_KINDS}) in"
    rf"|had (?:my|our|their) first (?:day|night|week|weekend) (?:living )?in) (?:{A_HOME_IN} )?"
)
BOUGHT_IN = (
    rf"(?:have )?(?:(?:bought|purchased|closed on|rented|took|taken|got|found|built) {A_HOME_IN}"
    r"|(?:went|gone|came|come|returned|headed) (?:(?:back|home|over) )?to) "
)
MOVED_IN = (
    r" (?:and|where) (?:(?:i|we|they|have|just|finally|now|then|be) )*(?:moved in|moved there|live there|live"
    r"|living there|settled in)\b"
)
"""After a home that was bought: they live in it."""
RENTS_IN = rf"(?:rent|be renting|own|have) {A_HOME_IN} "
HOUSEHOLD_IN = r"be (?:back |over |down |up |out )?(?:living )?in "
"""Where somebody is: their home if the memory says that it is a change, and for no occasion."""
HAVE_BEEN_IN = r"have been (?:back )?in "
CALLS_HOME = rf"(?:call|(?:have )?made) (?P<value>{NAME}) (?:(?:my|our|their) )?(?:new )?home\b"
RESIDENT = (
    rf"(?:be|have been|became|have become) a (?:\w+ )?(?:resident of (?P<of>{NAME})|(?P<value>{NAME}) resident)\b"
)
MOVED_AWAY = r"(?:have )?(?:moved (?:away from|out of)|left|be (?:gone from|out of))"
NOT_A_HOME = (
    r"(?![\w'&-])(?! (?:time|team|bank|office|branch|server|plan|desk|group|project|department|account|mode|timezone|hours|street"
    r"|airport|station|hotel|store|shop|app|version|conference|meeting|squad|division)\b)"
)
"""After a name: it is no town. The first part keeps the name whole."""
ORGANISATIONS = words(
    "clinic hospital university college school bank inc corp ltd llc group institute labs studios partners systems technologies "
    "consulting agency academy council airlines foundation library museum"
)
"""Last words of names to which one moves for work."""
RETURNED_TO = r"(?:have )?(?:returned|came back|come back|went back|gone back) (?:home )?to "
"""For good, if the memory says that it is a change."""
